const KEYS_MIN = 1024;

/** Which row a run has, by the key that the store gave it: keys are small numbers, most of them in use. */
export class KeyRows {
  /** One more than the row; 0 for none. */
  #rows: Uint32Array;

  constructor(rows: Uint32Array = new Uint32Array(KEYS_MIN)) {
    this.#rows = rows;
  }

  get(key: number): number | undefined {
    const row = this.#rows[key];
    return row === undefined || row === 0 ? undefined : row - 1;
  }

  set(key: number, row: number): void {
    if (key >= this.#rows.length) {
      const grown = new Uint32Array(Math.max(key + 1, this.#rows.length * 2));
      grown.set(this.#rows);
      this.#rows = grown;
    }
    this.#rows[key] = row + 1;
  }

  delete(key: number): void {
    if (key < this.#rows.length) this.#rows[key] = 0;
  }

  /** A copy, for the constructor. */
  copy(): Uint32Array {
    return this.#rows.slice();
  }
}
