import { compareCodePoints } from "../code-points.ts";
import type { Comparison, Field, Literal, Order } from "./ast.ts";

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
