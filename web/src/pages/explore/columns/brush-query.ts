import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import { splitOrder } from "#lang/query/draft/order.ts";
import { piecesOf } from "#lang/query/draft/pieces.ts";
import type { Brush, Brushes } from "./brush.ts";
import type { ExploredColumn } from "./explored-column.ts";

export type BrushQuery = { readonly query: string } | { readonly problem: string };

/** The query with the conditions of the brushes, so that it selects the runs that remain. */
export function withBrushes(
  query: string,
  brushes: Brushes,
  columnOf: (text: string) => ExploredColumn | undefined,
): BrushQuery {
  const terms: string[] = [];
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
    terms.push(termOf(column, brush));
  }
  if (terms.length === 0) return { query };
  const { condition, order } = splitOrder(query);
  const before = condition === "" ? [] : [hasOr(condition) ? `(${condition})` : condition];
  const whole = [[...before, ...terms].join(" and "), order].filter((part) => part !== "").join(" ");
  return byteLength(whole) > limits.queryBytesMax
    ? { problem: "The query would be longer than 16 KiB: choose ranges instead of single values." }
    : { query: whole };
}

function hasOr(condition: string): boolean {
  return piecesOf(condition).some(({ kind, text }) => kind === "keyword" && text.toLowerCase() === "or");
}

function termOf({ text, field, kind, hasInfinite }: ExploredColumn, { from, to, of, none }: Brush): string {
  const wanted: string[] = [];
  const range = [
    ...(from === undefined ? [] : [`${text} >= ${numberText(from)}`]),
    ...(to === undefined ? [] : [`${text} <= ${numberText(to)}`]),
    // An axis cannot show infinities, so an open end does not include them.
    ...(hasInfinite && from === undefined && to !== undefined ? [`${text} > -inf`] : []),
    ...(hasInfinite && to === undefined && from !== undefined ? [`${text} < inf`] : []),
  ];
  if (range.length > 0) wanted.push(range.join(" and "));
  const isTextual = field.of === "tag" || field.of === "run";
  const literals = (of ?? []).flatMap((key) =>
    key.startsWith('"') || (!isTextual && isPlainLiteral(key)) ? [key.replace("Infinity", "inf")] : [],
  );
  if (literals.length === 1) wanted.push(`${text} = ${literals[0]}`);
  else if (literals.length > 1) wanted.push(`${text} in (${literals.join(", ")})`);
  if (none === true) {
    wanted.push(kind === "number" ? `not (${text} > -inf and ${text} < inf)` : `${text} is null`);
  }
  // The brush selects values that no run can have.
  if (wanted.length === 0) return `(${text} is null and ${text} is not null)`;
  return wanted.length === 1 ? wanted[0]! : `(${wanted.map(inParentheses).join(" or ")})`;
}

function inParentheses(term: string): string {
  return / and /.test(term) && !term.startsWith("not (") ? `(${term})` : term;
}

function isPlainLiteral(key: string): boolean {
  return key === "true" || key === "false" || /^-?(?:Infinity|\d[\d.]*(?:e[+-]?\d+)?)$/.test(key);
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "0" : String(value);
}
