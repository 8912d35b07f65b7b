/**
 * Rows of purged runs, for new runs. While rows that were selected earlier are being read, none is reused: the reader
 * would see another run in it, which its caller may not be allowed to see.
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

  /** Until the returned function is called, free rows are not reused. */
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
