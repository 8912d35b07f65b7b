import { Code, type CallOptions } from "@connectrpc/connect";
import { Failure } from "../failure.ts";
import { isTransient, retry } from "../retry.ts";
import { signInHint } from "../sign-in-hint.ts";

const TIMEOUT_MS = 5_000;
/** For calls to a server that was away a moment ago: a job must not wait the full time again and again. */
const AWAY_TIMEOUT_MS = 1_000;
const AWAY_MS = 30_000;

/**
 * Calls a server again while that may help, for a bounded time in all. Only for calls that may be repeated. Once the
 * time was used up, calls within the next half minute get one short try each.
 */
export class Patience {
  readonly #url: string;
  readonly #timeoutMs: number;
  #awayUntil = -Infinity;

  constructor(url: string, timeoutMs: number = TIMEOUT_MS) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  /** Throws a Failure. */
  async call<T>(call: (options: CallOptions) => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const isAway = startedMs < this.#awayUntil;
    const budgetMs = isAway ? Math.min(AWAY_TIMEOUT_MS, this.#timeoutMs) : this.#timeoutMs;
    const leftMs = () => Math.max(1, Math.ceil(startedMs + budgetMs - performance.now()));
    try {
      const answer = await retry(() => call({ timeoutMs: leftMs() }), {
        patienceMs: isAway ? 0 : budgetMs,
        url: this.#url,
      });
      this.#awayUntil = -Infinity;
      return answer;
    } catch (thrown) {
      const failure = thrown as Failure;
      if (isTransient(failure) && failure.code !== Code.ResourceExhausted) {
        this.#awayUntil = performance.now() + AWAY_MS;
      }
      if (failure.code !== Code.Unauthenticated) throw failure;
      throw new Failure(failure.code, `${failure.message}; ${signInHint(this.#url)}`, failure);
    }
  }
}
