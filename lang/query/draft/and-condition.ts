import type { Expression } from "../ast.ts";
import { printTerm } from "../print.ts";
import { splitOrder } from "./order.ts";
import { piecesOf } from "./pieces.ts";

/**
 * The query with one more condition, in front of its order. The rest stays as it was typed: errors keep their place, and
 * `now-7d` stays relative.
 */
export function andCondition(query: string, condition: Expression): string {
  return andTerm(query, printTerm(condition));
}

/** The same with a condition as text, in which no `or` is outside of parentheses, such as `creator = me`. */
export function andTerm(query: string, term: string): string {
  const { condition: typed, order } = splitOrder(query);
  const terms = [...(typed === "" ? [] : [hasOr(typed) ? `(${typed})` : typed]), term];
  return `${terms.join(" and ")} ${order}`.trim();
}

function hasOr(condition: string): boolean {
  return piecesOf(condition).some(({ kind, text }) => kind === "keyword" && text.toLowerCase() === "or");
}
