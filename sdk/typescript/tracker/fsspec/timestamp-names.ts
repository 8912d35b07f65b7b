/** A time this far from the wall clock is of a clock that was set since. */
const DRIFT_NS_MAX = 5_000_000n;

/**
 * Names of entries: nanoseconds since 1970. The last write wins by them, so within a process each is larger than the
 * one before, also when the clock is set back. Across machines they are as good as the clocks are.
 */
export class TimestampNames {
  readonly #wallMs: () => number;
  readonly #steadyNs: () => bigint;
  #offsetNs: bigint | undefined;
  #last = 0n;

  constructor(wallMs: () => number = Date.now, steadyNs: () => bigint = process.hrtime.bigint) {
    this.#wallMs = wallMs;
    this.#steadyNs = steadyNs;
  }

  next(): string {
    const now = this.#nowNs();
    this.#last = now > this.#last ? now : this.#last + 1n;
    return String(this.#last);
  }

  /** The wall clock counts milliseconds; the steady one adds the fraction. */
  #nowNs(): bigint {
    const wall = BigInt(Math.trunc(this.#wallMs())) * 1_000_000n;
    const steady = this.#steadyNs();
    if (this.#offsetNs !== undefined) {
      const estimate = steady + this.#offsetNs;
      const drift = estimate - wall;
      if (drift > -DRIFT_NS_MAX && drift < DRIFT_NS_MAX) return estimate;
    }
    this.#offsetNs = wall - steady;
    return wall;
  }
}

const NUMERAL = /^\d{1,30}$/;

/** Whether an entry may have this name. */
export function isTimestampName(name: string): boolean {
  return NUMERAL.test(name);
}

/** By the number they are. */
export function compareTimestampNames(a: string, b: string): number {
  const difference = BigInt(a) - BigInt(b);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
