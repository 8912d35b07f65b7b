import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { Failure } from "#sdk/failure.ts";
import { CommandError } from "../cli.ts";

const TRIES_MAX = 9;
const FIRST_WAIT_MS = 200;
const WAIT_MS_MAX = 5_000;
/** What a server asks for at most; beyond that a person should decide. */
const ASKED_WAIT_MS_MAX = 60_000;

/** How often a transfer that breaks off goes on before it gives up: about half a minute without a single byte. */
export class Patience {
  #failures = 0;

  progressed(): void {
    this.#failures = 0;
  }

  /** Waits until it is worth another try. Throws what went wrong when no other try would help, or after the last. */
  async wait(thrown: unknown, url: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // What this machine's own disk refused is no matter of waiting.
    if (thrown instanceof CommandError) throw thrown;
    const failure = isTimeout(thrown)
      ? new Failure(Code.DeadlineExceeded, `cannot go on with ${url}: no answer in time`, { cause: thrown })
      : Failure.from(thrown, url);
    this.#failures++;
    if (!isPassing(failure) || this.#failures >= TRIES_MAX) throw failure;
    const asked = Math.min(Number(failure.facts["retry_after_ms"] ?? 0) || 0, ASKED_WAIT_MS_MAX);
    const own = Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), WAIT_MS_MAX);
    await sleep(Math.max(asked, own * (0.75 + Math.random() / 2)), undefined, { signal });
  }
}

function isPassing({ code, facts }: Failure): boolean {
  if (code === Code.Unavailable || code === Code.DeadlineExceeded) return true;
  return facts["retry_after_ms"] !== undefined;
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "TimeoutError";
}
