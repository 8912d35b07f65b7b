import type { ListenLimits } from "#server/listen/limits.ts";

/** Distinguishes a slow body from one that only holds the connection. */
export class BodyPace {
  #sinceMs: number | undefined;
  #bytes = 0;

  /**
   * To be called repeatedly. `bytes` counts what has arrived so far, from any origin; time in which the server did not
   * read does not count.
   */
  isSlow(
    bytes: number,
    wanted: boolean,
    nowMs: number,
    { slowBodyMs, bodyBytesPerSecondMin }: ListenLimits,
  ): boolean {
    const spentMs = this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
    if (this.#sinceMs !== undefined && wanted && spentMs < slowBodyMs) return false;
    const came = bytes - this.#bytes;
    const slow = wanted && this.#sinceMs !== undefined && came * 1000 < spentMs * bodyBytesPerSecondMin;
    this.#sinceMs = nowMs;
    this.#bytes = bytes;
    return slow;
  }
}
