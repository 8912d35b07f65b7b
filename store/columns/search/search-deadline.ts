import { throwIfCancelled } from "#base/threads/cancellation.ts";
import { cpuMs } from "#base/cpu-ms.ts";
import { CairnError } from "#lang/errors.ts";

/** Ends a search that computes so long that others wait, or whose caller disconnected. */
export class SearchDeadline {
  readonly limitMs: number;
  readonly #endMs: number;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
    this.#endMs = cpuMs() + limitMs;
  }

  /** Throws `deadline` once the time is up. */
  check(): void {
    throwIfCancelled();
    if (cpuMs() <= this.#endMs) return;
    throw new CairnError("deadline", `cannot search runs: it took longer than ${this.limitMs / 1000} s`, {
      reason: "SEARCH_SLOW",
      hint: "use a simpler pattern, or narrow the search with a namespace or a comparison",
    });
  }
}
