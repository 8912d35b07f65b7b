/**
 * Fills at a steady rate up to the amount of one second. It may be overdrawn: what has arrived already
 * is counted, and the debt is paid back before anything new is admitted.
 */
export class TokenBucket {
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
    this.#atMs = nowMs;
  }

  /** How long until at least one is available; 0 when one is. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#left >= 1 ? 0 : ((1 - this.#left) * 1000) / this.#perSecond;
  }

  spend(amount: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#left -= amount;
  }

  /** By how much it is overdrawn; 0 when it is not. */
  debt(nowMs: number): number {
    this.#fill(nowMs);
    return Math.max(0, -this.#left);
  }

  /** Whether it is unused. */
  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#left >= this.#perSecond;
  }

  /** A clock that stops or is set back fills nothing. */
  #fill(nowMs: number): void {
    if (nowMs <= this.#atMs) return;
    this.#left = Math.min(this.#perSecond, this.#left + ((nowMs - this.#atMs) * this.#perSecond) / 1000);
    this.#atMs = nowMs;
  }
}
