import { nearest } from "#base/nearest.ts";
import { CairnError } from "../errors.ts";
import { columnAt } from "../code-points.ts";

/** Code points of the query that an error shows on either side of the column. */
const WINDOW = 30;

/** What kind of text has the error, such as "query". */
export type Noun = "query" | "field";

export interface SyntaxErrorOptions {
  hint?: string | undefined;
  cause?: unknown;
}

/**
 * What is wrong with a text, and where: the message ends with the text, cut to a window, and a caret
 * under the column.
 */
export function syntaxError(
  noun: Noun,
  text: string,
  index: number,
  problem: string,
  options: SyntaxErrorOptions = {},
): CairnError {
  const column = columnAt(text, index);
  const message = `cannot parse ${noun}: ${printable(problem)} at column ${column}\n${excerpt(text, index)}`;
  return new CairnError("invalid", message, {
    reason: "QUERY_SYNTAX",
    facts: { column: String(column) },
    ...(options.hint === undefined ? {} : { hint: options.hint }),
    ...(options.cause === undefined ? {} : { cause: options.cause }),
  });
}

function excerpt(text: string, index: number): string {
  // A code point has at most two units, so these hold more than WINDOW of them where there are more.
  const before = Array.from(text.slice(Math.max(0, index - 2 * WINDOW - 2), index));
  const after = Array.from(text.slice(index, index + 2 * WINDOW + 2));
  const shown = before.slice(-WINDOW);
  const cutBefore = before.length > WINDOW ? "…" : "";
  const cutAfter = after.length > WINDOW ? "…" : "";
  const line = printable([...shown, ...after.slice(0, WINDOW)].join(""));
  return `  ${cutBefore}${line}${cutAfter}\n  ${" ".repeat(cutBefore.length + shown.length)}^`;
}

/** The same number of code points, on one line. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
}

/** ` (did you mean …?)` or nothing, ready to follow a problem. */
export function suggestion(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? "" : ` (did you mean ${candidate}?)`;
}
