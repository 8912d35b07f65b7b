import type { Comparison, Expression, Literal } from "#lang/query/ast.ts";
import { fitsField } from "#lang/query/fields.ts";
import type { Brush } from "./brush.ts";
import type { ExploredColumn } from "./explored-column.ts";

/**
 * The runs that a brush selects, as a condition of the query language. That has no lists, objects and NaN: their
 * categories are left out.
 */
export function conditionOf(column: ExploredColumn, brush: Brush): Expression {
  const isNull: Expression = { op: "is-null", field: column.field };
  const ends = endsOf(column, brush);
  const wanted = [
    ...(ends.length === 0 ? [] : [joined("and", ends)]),
    ...valuesOf(column, brush.of ?? []),
    ...(brush.none === true ? [column.kind === "number" ? not(joined("and", finite(column))) : isNull] : []),
  ];
  // The brush selects values that no run can have.
  return wanted.length === 0 ? joined("and", [isNull, not(isNull)]) : joined("or", wanted);
}

function endsOf(column: ExploredColumn, { from, to }: Brush): Expression[] {
  if (!fitsField(column.field, 0)) return [];
  const [aboveAll, belowAll] = finite(column);
  return [
    ...(from === undefined ? [] : [compare(column, ">=", from)]),
    ...(to === undefined ? [] : [compare(column, "<=", to)]),
    // An axis cannot show infinities, so an open end does not include them.
    ...(column.hasInfinite && from === undefined && to !== undefined ? [aboveAll] : []),
    ...(column.hasInfinite && to === undefined && from !== undefined ? [belowAll] : []),
  ];
}

function valuesOf(column: ExploredColumn, keys: readonly string[]): Expression[] {
  const { field } = column;
  const values = keys.map(literalOf).filter((value) => value !== undefined && fitsField(field, value));
  const [first, ...others] = values as Literal[];
  if (first === undefined) return [];
  return [
    others.length === 0 ? compare(column, "=", first) : { op: "in", field, values: [first, ...others] },
  ];
}

function finite(column: ExploredColumn): [aboveAll: Expression, belowAll: Expression] {
  return [compare(column, ">", -Infinity), compare(column, "<", Infinity)];
}

function compare({ field }: ExploredColumn, comparison: Comparison, value: Literal): Expression {
  return { op: "compare", field, comparison, value };
}

function not(term: Expression): Expression {
  return { op: "not", term };
}

/** One condition of several, without unnecessary parentheses. */
export function joined(op: "and" | "or", terms: readonly Expression[]): Expression {
  const flat = terms.flatMap((term) => (term.op === op ? term.terms : [term]));
  return flat.length === 1 ? flat[0]! : { op, terms: flat };
}

/** The value of the key of a category; undefined where the query language has no such value, or the address is invalid. */
export function literalOf(key: string): Literal | undefined {
  if (key === "Infinity" || key === "-Infinity") return Number(key);
  try {
    const value: unknown = JSON.parse(key);
    return typeof value === "number" || typeof value === "string" || typeof value === "boolean"
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}
