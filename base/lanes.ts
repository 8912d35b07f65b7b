/** Runs at most so many tasks at a time; the others wait, first in, first out. */
export class Lanes {
  readonly #lanes: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(lanes: number) {
    this.#lanes = lanes;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#lanes) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy--;
      else next();
    }
  }
}
