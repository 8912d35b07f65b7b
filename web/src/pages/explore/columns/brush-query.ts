import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import type { Expression } from "#lang/query/ast.ts";
import { andCondition } from "#lang/query/draft/and-condition.ts";
import type { Brushes } from "./brush.ts";
import { conditionOf, joined } from "./brush-condition.ts";
import type { ExploredColumn } from "./explored-column.ts";

export type BrushQuery = { readonly query: string } | { readonly problem: string };

/** The query with the conditions of the brushes, so that it selects the runs that remain. */
export function withBrushes(
  query: string,
  brushes: Brushes,
  columnOf: (text: string) => ExploredColumn | undefined,
): BrushQuery {
  const terms: Expression[] = [];
  for (const [text, brush] of Object.entries(brushes)) {
    const column = columnOf(text);
    if (column === undefined) continue;
    // A query does not treat a list as a value, so it cannot be distinguished from a missing value.
    const isUnaskable = column.categories.some(
      ({ key, isAskable }) =>
        !isAskable && (brush.of?.includes(key) || (brush.none === true && key !== "NaN")),
    );
    if (isUnaskable) {
      return { problem: `A query cannot select a list, an object or NaN, such as in ${column.label}.` };
    }
    if ((brush.of?.length ?? 0) > limits.queryListMax) {
      return { problem: `A query may list at most ${limits.queryListMax} values.` };
    }
    terms.push(conditionOf(column, brush));
  }
  if (terms.length === 0) return { query };
  const whole = andCondition(query, joined("and", terms));
  return byteLength(whole) > limits.queryBytesMax
    ? { problem: "The query would be longer than 16 KiB: choose ranges instead of single values." }
    : { query: whole };
}
