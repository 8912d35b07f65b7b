import type { CairnError } from "#lang/errors.ts";
import type { Background } from "./committer.ts";

/** Several kinds of background work as one: each gets its turn. */
export class Backgrounds implements Background {
  readonly #all: readonly Background[];
  /** Which one is running, and so caused an error. */
  #current = 0;

  constructor(all: readonly Background[]) {
    this.#all = all;
  }

  get due(): boolean {
    return this.#all.some((one) => one.due);
  }

  /** One of them, and the next one the next time. */
  slice(budgetMs: number): boolean {
    for (let tried = 0; tried < this.#all.length; tried++) {
      this.#current = (this.#current + 1) % this.#all.length;
      const one = this.#all[this.#current]!;
      if (!one.due) continue;
      one.slice(budgetMs);
      break;
    }
    return this.due;
  }

  pause(cause: CairnError): void {
    this.#all[this.#current]!.pause(cause);
  }
}
