/** A burst, and then one per interval. */
export interface AllowanceRate {
  burst: number;
  everyMs: number;
}

/** How often something may be tried: a token bucket that refills up to the burst. */
export class Allowance {
  readonly #rate: AllowanceRate;
  #left: number;
  #atUs: number;

  constructor(rate: AllowanceRate, nowUs: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#atUs = nowUs;
  }

  /** Takes one and returns 0, or takes none and returns how long to wait for it. */
  take(nowUs: number): number {
    const { burst, everyMs } = this.#rate;
    this.#left = Math.min(burst, this.#left + Math.max(0, nowUs - this.#atUs) / 1000 / everyMs);
    this.#atUs = Math.max(this.#atUs, nowUs);
    if (this.#left < 1) return Math.ceil((1 - this.#left) * everyMs);
    this.#left--;
    return 0;
  }

  giveBack(): void {
    this.#left = Math.min(this.#rate.burst, this.#left + 1);
  }
}
