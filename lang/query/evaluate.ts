/**
 * The semantics of a query, run by run or model by model. Every engine is tested against this; docs/query.md describes the
 * same in words. Simple rather than fast.
 */
import { isUnder } from "../namespace-path.ts";
import { compareCodePoints } from "../code-points.ts";
import type { Comparison, Expression, Field, Literal, Order, QueryField } from "./ast.ts";

/** A run, or a model with its run, as a query sees it. */
export interface RunView {
  /**
   * None when missing; JSON's null, and a list or an object as a whole, count as missing. Only `alias` may have more
   * than one. NaN is a value.
   */
  values(field: QueryField): readonly Literal[];
}

export function matches(expression: Expression, view: RunView): boolean {
  switch (expression.op) {
    case "and":
      return expression.terms.every((term) => matches(term, view));
    case "or":
      return expression.terms.some((term) => matches(term, view));
    case "not":
      return !matches(expression.term, view);
    case "compare":
      return view
        .values(expression.field)
        .some((value) => holds(value, expression.comparison, expression.value));
    case "in":
      return view
        .values(expression.field)
        .some((value) => expression.values.some((one) => holds(value, "=", one)));
    case "matches":
      return view
        .values(expression.field)
        .some((value) => typeof value === "string" && expression.pattern.test(value));
    case "is-null":
      return view.values(expression.field).length === 0;
    case "under":
      return view.values(NAMESPACE).some((path) => isUnder(String(path), expression.path));
  }
}

const NAMESPACE: Field = { of: "run", name: "namespace" };
const ID: Field = { of: "run", name: "id" };

/** Newest first, then by id. */
export const RUN_TIES: readonly Order[] = [
  { field: { of: "run", name: "created" }, descending: true },
  { field: ID, descending: false },
];

/** Newest first, then by what names a model: run, name and step. */
export const MODEL_TIES: readonly Order[] = [
  { field: { of: "model", name: "created" }, descending: true },
  { field: ID, descending: false },
  { field: { of: "model", name: "name" }, descending: false },
  { field: { of: "model", name: "step" }, descending: false },
];

/** Values of two types, and NaN with anything, satisfy no comparison, not even `!=`. */
export function holds(value: Literal, comparison: Comparison, literal: Literal): boolean {
  if (typeof value !== typeof literal || Number.isNaN(value) || Number.isNaN(literal)) return false;
  const order = compareValues(value, literal);
  switch (comparison) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

/** A total order: as asked, then by `ties`. */
export function compareRuns(orderBy: readonly Order[], ties = RUN_TIES): (a: RunView, b: RunView) => number {
  const orders = [...orderBy, ...ties];
  return (a, b) => {
    for (const { field, descending } of orders) {
      const order = comparePlaces(a.values(field)[0], b.values(field)[0], descending);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** NaN comes after every other value and missing after NaN, in either direction. */
function comparePlaces(a: Literal | undefined, b: Literal | undefined, descending: boolean): number {
  const lag = lateness(a) - lateness(b);
  if (lag !== 0 || a === undefined || b === undefined || Number.isNaN(a)) return lag;
  return descending ? compareValues(b, a) : compareValues(a, b);
}

function lateness(value: Literal | undefined): number {
  if (value === undefined) return 2;
  return Number.isNaN(value) ? 1 : 0;
}

/** Numbers before texts before bools; texts by code point, false before true. Neither may be NaN. */
export function compareValues(a: Literal, b: Literal): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (typeof a !== typeof b) return typeRank(a) - typeRank(b);
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function typeRank(value: Literal): number {
  if (typeof value === "number") return 0;
  return typeof value === "string" ? 1 : 2;
}
