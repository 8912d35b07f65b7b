import type { Interceptor } from "@connectrpc/connect";

/** An answer says when it was made only to the second. */
const DATE_STEP_MS = 1_000;

/**
 * The time on the server, which wrote down when runs were heard and began. A browser's own clock may be minutes off, and would call a run late that is not.
 *
 * Every answer says what time it was on the server between the question and the answer. A difference that these may explain is none.
 */
export class ServerClock {
  #aheadMs = 0;

  /** By Date.now() of the server. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** An answer, made at `dateMs` by the server, to what was asked and answered at these times of the browser. */
  learn(dateMs: number, askedMs: number, answeredMs: number): void {
    if (!Number.isFinite(dateMs)) return;
    const [least, most] = [dateMs - answeredMs, dateMs + DATE_STEP_MS - askedMs];
    // What was learned before stands while it may still be right.
    this.#aheadMs = Math.min(most, Math.max(least, this.#aheadMs));
  }

  readonly interceptor: Interceptor = (next) => async (request) => {
    const askedMs = Date.now();
    const answer = await next(request);
    this.learn(Date.parse(answer.header.get("date") ?? ""), askedMs, Date.now());
    return answer;
  };
}
