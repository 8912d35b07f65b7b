/**
 * Rows of runs that are gone, for runs to come. While somebody reads rows that were selected earlier none is given out
 * again: the reader would see another run in it, which its caller may not be allowed to see.
 */
export class FreeRows {
  readonly #free: number[];
  #resting: number[] = [];
  #holds = 0;

  constructor(rows: readonly number[] = []) {
    this.#free = [...rows];
  }

  take(): number | undefined {
    return this.#free.pop();
  }

  add(row: number): void {
    (this.#holds === 0 ? this.#free : this.#resting).push(row);
  }

  /** Until what it returns is called, rows that become free are not given out. */
  hold(): () => void {
    this.#holds++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holds > 0) return;
      for (const row of this.#resting) this.#free.push(row);
      this.#resting = [];
    };
  }

  all(): number[] {
    return [...this.#free, ...this.#resting];
  }
}
