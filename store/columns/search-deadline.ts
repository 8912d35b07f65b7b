import { CairnError } from "#core/errors.ts";

const SPENT_BETWEEN_LOOKS = 1 << 16;

/** Ends a search that keeps the others waiting for too long. */
export class SearchDeadline {
  readonly #limitMs: number;
  readonly #endMs: number;
  #spent = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#endMs = performance.now() + limitMs;
  }

  /** Throws `deadline` once the time is up. */
  check(): void {
    if (performance.now() <= this.#endMs) return;
    throw new CairnError("deadline", `cannot search runs: it took longer than ${this.#limitMs / 1000} s`, {
      reason: "SEARCH_SLOW",
      hint: "use a simpler pattern, or narrow the search with a namespace or a comparison",
    });
  }

  /** Tells of characters about to be looked at one by one; looks at the clock now and then. */
  spend(characters: number): void {
    this.#spent += characters;
    if (this.#spent < SPENT_BETWEEN_LOOKS) return;
    this.#spent = 0;
    this.check();
  }
}
