import { throwIfCancelled } from "#base/cancellation.ts";
import { CairnError } from "#core/errors.ts";

/** Ends a search that keeps the others waiting for too long, or whose caller is gone. */
export class SearchDeadline {
  readonly limitMs: number;
  readonly #endMs: number;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
    this.#endMs = performance.now() + limitMs;
  }

  /** Throws `deadline` once the time is up. */
  check(): void {
    throwIfCancelled();
    if (performance.now() <= this.#endMs) return;
    throw new CairnError("deadline", `cannot search runs: it took longer than ${this.limitMs / 1000} s`, {
      reason: "SEARCH_SLOW",
      hint: "use a simpler pattern, or narrow the search with a namespace or a comparison",
    });
  }
}
