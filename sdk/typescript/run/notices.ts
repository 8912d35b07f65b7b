import { inspect } from "node:util";
import { clientLimits } from "./client-limits.ts";

/** Shows a notice on standard error. */
export type ShowNotice = (text: string) => void;

const writeToStderr: ShowNotice = (text) => {
  try {
    process.stderr.write(`cairn: ${text}\n`);
  } catch {
    // Training continues without it.
  }
};

/** Notices, each shown once, and limited in number. */
export class Notices {
  readonly #show: ShowNotice;
  readonly #shown = new Set<string>();

  constructor(show: ShowNotice = writeToStderr) {
    this.#show = show;
  }

  /** `about` is its key: another notice with the same key is not shown. */
  once(about: string, text: string): void {
    if (this.#shown.has(about) || this.#shown.size > clientLimits.noticesMax) return;
    this.#shown.add(about);
    if (this.#shown.size > clientLimits.noticesMax) {
      this.#show("there are more notices; they are not shown");
      return;
    }
    this.#show(text);
  }

  /** The problem is over: its next notice is shown again. */
  forget(about: string): void {
    this.#shown.delete(about);
  }

  show(text: string): void {
    this.#show(text);
  }
}

const QUOTED_MAX = 80;

/** A logged value for one line of a terminal, also of the wrong type. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : inspect(value, { depth: 0, breakLength: Infinity });
  const shown = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  return JSON.stringify(shown.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu,
    (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );
}
