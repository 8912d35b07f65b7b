import type { Caller } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { sendBytes } from "./respond.ts";
import type { Call } from "./router.ts";
import type { Traffic } from "./traffic.ts";

/**
 * Answers a plain route whose content may be large. It is made in a slot of expensive work, by a caller whose signal is
 * aborted when the client is gone, and counts as an answer until the client has taken it. Throws `exhausted` (QUOTA) and
 * `unavailable` (OVERLOADED) when there is no room.
 */
export async function sendHeavy(
  { work, answers }: Pick<Traffic, "work" | "answers">,
  { caller, account, response }: Pick<Call, "caller" | "account" | "response">,
  contentType: string,
  make: (caller: Caller) => Promise<Uint8Array>,
): Promise<void> {
  const owner = account?.owner ?? "";
  const gone = new AbortController();
  const held = answers.open(owner);
  response.once("close", () => {
    gone.abort(new CairnError("aborted", "cannot answer: the client disconnected"));
    held.giveAll();
  });
  const end = await work.take(owner, gone.signal);
  let content: Uint8Array;
  try {
    answers.requireRoom(owner);
    content = await make({ ...caller, signal: gone.signal });
    // Before the next one begins: what is made must be counted then.
    if (!gone.signal.aborted) held.take(content.length);
  } finally {
    end();
  }
  sendBytes(response, 200, contentType, content);
}
