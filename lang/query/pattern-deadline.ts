import type { RE2JS } from "re2js";
import { cpuMs } from "#base/cpu-ms.ts";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";

/**
 * One unit is one character against one instruction of a compiled pattern: mostly less than three nanoseconds, and up
 * to seventy where the automaton of the pattern is too large to be kept.
 */
const UNITS_BETWEEN_LOOKS = 1 << 18;
/** Nothing can interrupt a match, so one that might take the whole time is not begun. */
const UNITS_PER_TEXT_MAX = 1 << 26;

/**
 * Bounds the time that patterns of one request take together. Matching is linear, but a pattern of a
 * kilobyte against a million names is still slow, and other requests wait behind it. It is the time that this
 * thread computes: on a busy machine a cheap search may wait long for its turn.
 */
export class PatternDeadline {
  readonly #verb: string;
  readonly #limitMs: number;
  readonly #endMs: number;
  #units = 0;

  /** `verb` is used in errors, such as "search runs". */
  constructor(verb: string, limitMs: number = limits.patternMsMax) {
    this.#verb = verb;
    this.#limitMs = limitMs;
    this.#endMs = cpuMs() + limitMs;
  }

  /** Whether the pattern is found in a text. The test throws `deadline` (SEARCH_SLOW) once the time is up. */
  test(pattern: RE2JS): (text: string) => boolean {
    const size = pattern.programSize();
    return (text) => {
      this.#spend(size * text.length);
      return pattern.test(text);
    };
  }

  #spend(units: number): void {
    if (units > UNITS_PER_TEXT_MAX) throw this.#refusal("its pattern is too large for so long a text");
    this.#units += units;
    if (this.#units < UNITS_BETWEEN_LOOKS) return;
    this.#units = 0;
    if (cpuMs() > this.#endMs) {
      throw this.#refusal(`its patterns took longer than ${this.#limitMs} ms`);
    }
  }

  #refusal(cause: string): CairnError {
    return new CairnError("deadline", `cannot ${this.#verb}: ${cause}`, {
      reason: "SEARCH_SLOW",
      hint: "use a simpler pattern, or narrow the search with a namespace or a comparison",
    });
  }
}
