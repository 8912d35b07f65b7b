import type { Interceptor } from "@connectrpc/connect";

/** The `date` of an answer has a resolution of one second. */
const DATE_STEP_MS = 1_000;

/**
 * The time on the server, which recorded the start and the last activity of runs. The clock of a browser may be minutes off, and would mark runs as late that are not.
 *
 * Every answer has the time of the server between request and answer. A difference within that interval is ignored.
 */
export class ServerClock {
  #aheadMs = 0;

  /** By Date.now() of the server. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** An answer that the server made at `dateMs`, with the times of request and answer in the browser. */
  learn(dateMs: number, askedMs: number, answeredMs: number): void {
    if (!Number.isFinite(dateMs)) return;
    const [least, most] = [dateMs - answeredMs, dateMs + DATE_STEP_MS - askedMs];
    // The known difference is kept while it may still be right.
    this.#aheadMs = Math.min(most, Math.max(least, this.#aheadMs));
  }

  readonly interceptor: Interceptor = (next) => async (request) => {
    const askedMs = Date.now();
    const answer = await next(request);
    this.learn(Date.parse(answer.header.get("date") ?? ""), askedMs, Date.now());
    return answer;
  };
}
