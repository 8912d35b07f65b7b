import { inspect } from "node:util";
import { clientLimits } from "./client-limits.ts";

/** Tells the person something on standard error. */
export type Tell = (text: string) => void;

const tellOnStderr: Tell = (text) => {
  try {
    process.stderr.write(`cairn: ${text}\n`);
  } catch {
    // Training goes on without it.
  }
};

/** Complaints, each told once, and no more of them than anybody reads. */
export class Notices {
  readonly #tell: Tell;
  readonly #told = new Set<string>();

  constructor(tell: Tell = tellOnStderr) {
    this.#tell = tell;
  }

  /** `about` names the matter; what is said again about it is not told. */
  once(about: string, text: string): void {
    if (this.#told.has(about) || this.#told.size > clientLimits.noticesMax) return;
    this.#told.add(about);
    if (this.#told.size > clientLimits.noticesMax) {
      this.#tell("there are more complaints of this kind; they are not shown");
      return;
    }
    this.#tell(text);
  }

  /** The matter is over: when it comes again, it is told again. */
  forget(about: string): void {
    this.#told.delete(about);
  }

  tell(text: string): void {
    this.#tell(text);
  }
}

const QUOTED_MAX = 80;

/** What somebody logs, fit for one line of a terminal; also what is no text although it should be. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : inspect(value, { depth: 0, breakLength: Infinity });
  const shown = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  return JSON.stringify(shown.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu,
    (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );
}
