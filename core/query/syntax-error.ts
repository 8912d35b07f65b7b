import { CairnError } from "../errors.ts";
import { columnAt } from "../model/code-points.ts";

/** Code points of the query that an error shows on either side of the column. */
const WINDOW = 30;

export interface SyntaxErrorOptions {
  hint?: string | undefined;
  cause?: unknown;
}

/**
 * What is wrong with a query, and where: the message ends with the query, cut to a window, and a
 * caret under the column.
 */
export function syntaxError(
  text: string,
  index: number,
  problem: string,
  options: SyntaxErrorOptions = {},
): CairnError {
  const column = columnAt(text, index);
  const message = `cannot parse query: ${problem} at column ${column}\n${excerpt(text, index)}`;
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
  const line = [...shown, ...after.slice(0, WINDOW)].map(printable).join("");
  return `  ${cutBefore}${line}${cutAfter}\n  ${" ".repeat(cutBefore.length + shown.length)}^`;
}

function printable(char: string): string {
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(char) ? " " : char;
}

/** The candidate that a mistyped word most likely meant, if one is near. Case does not count. */
function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  if (typed.length > 32) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean …?)` or nothing, ready to follow a problem. */
export function suggestion(word: string, candidates: Iterable<string>): string {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? "" : ` (did you mean ${candidate}?)`;
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
