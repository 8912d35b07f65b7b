import { ELEMENTS_MAX, NESTING_MAX } from "./limits.ts";
import { TooMuch } from "./prepared.ts";

/** Counts the elements made of a text, and ends the work above the limit. */
export class Budget {
  #elements = 0;

  /** `depth` is of the element that is to be made; 0 is outermost. */
  element(depth: number): void {
    this.#elements += 1;
    if (this.#elements > ELEMENTS_MAX) throw new TooMuch("large");
    if (depth >= NESTING_MAX) throw new TooMuch("deep");
  }
}
