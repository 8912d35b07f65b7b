import { Code, type CallOptions } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../failure.ts";

const TIMEOUT_MS = 5_000;
/** For calls to a server that was away a moment ago: a job must not wait the full time again and again. */
const AWAY_TIMEOUT_MS = 1_000;
const AWAY_MS = 30_000;
const FIRST_DELAY_MS = 50;
const DELAY_MS_MAX = 1_000;

/**
 * Calls a server again while that may help, for a bounded time in all. Only for calls that may be repeated. Once the
 * time was in vain, calls within the next half minute get one short try each.
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
    const started = performance.now();
    const isAway = started < this.#awayUntil;
    const budgetMs = isAway ? Math.min(AWAY_TIMEOUT_MS, this.#timeoutMs) : this.#timeoutMs;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, DELAY_MS_MAX)) {
      const leftMs = budgetMs - (performance.now() - started);
      try {
        const answer = await call({ timeoutMs: Math.max(1, Math.ceil(leftMs)) });
        this.#awayUntil = -Infinity;
        return answer;
      } catch (thrown) {
        const failure = Failure.from(thrown, this.#url);
        if (!isPassing(failure)) throw failure;
        const waitMs = Math.max(
          Number(failure.facts["retry_after_ms"] ?? 0),
          delayMs * (0.5 + Math.random() / 2),
        );
        if (isAway || performance.now() - started + waitMs >= budgetMs) {
          if (failure.code !== Code.ResourceExhausted) this.#awayUntil = performance.now() + AWAY_MS;
          throw failure;
        }
        await sleep(waitMs);
      }
    }
  }
}

function isPassing({ code, facts }: Failure): boolean {
  if (code === Code.ResourceExhausted) return facts["retry_after_ms"] !== undefined;
  return code === Code.Unavailable || code === Code.DeadlineExceeded || code === Code.Aborted;
}
