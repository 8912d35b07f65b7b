import type { ListenLimits } from "#server/listen/limits.ts";

/** Tells a body that comes slowly from one that only pretends to come. */
export class BodyPace {
  #sinceMs: number | undefined;
  #bytes = 0;

  /**
   * To be asked now and then. `bytes` counts what has come so far, from any origin; time in which nobody
   * wanted to read more is not held against the client.
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
