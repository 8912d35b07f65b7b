/**
 * The semantics of a query, run by run or model by model. Every engine is tested against this; docs/query.md describes the
 * same in words. Simple rather than fast.
 */
import { isUnder } from "../namespace-path.ts";
import type { Expression, Field, Literal, Order, QueryField } from "./ast.ts";
import { compareValues, holds, RUN_TIES } from "./compare.ts";

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
