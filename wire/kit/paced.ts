import { setTimeout } from "node:timers/promises";
import type { Account } from "#core/quota/account.ts";

/** How long to wait at most before checking whether the body is still wanted. */
const WAIT_MS_MAX = 1_000;

/**
 * The pieces of a body, paid for by its caller. One that comes faster than its caller may send is read more
 * slowly, so that the client has to wait; nothing of it is refused.
 */
export async function* paced(
  body: AsyncIterable<Uint8Array>,
  account: Account | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    yield piece;
    if (account === undefined) continue;
    let waitMs = account.paceMs(0, piece.byteLength);
    while (waitMs > 0) {
      await setTimeout(Math.min(waitMs, WAIT_MS_MAX), undefined, { ref: false });
      waitMs = account.paceMs(0, 0);
    }
  }
}
