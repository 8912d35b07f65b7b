/**
 * A query as text in one canonical form. `parseQuery` reads it back into exactly the same query, at any `now`: this is
 * how a query is sent to another thread or process.
 */
import type { RE2JS } from "re2js";
import type { Expression, Literal, Query, QueryField } from "./ast.ts";
import { printField } from "./field-text.ts";
import { fieldType } from "./fields.ts";
import { quoteText } from "./quote.ts";
import { formatTimeUs } from "./time.ts";
import { regexToLike } from "./wildcards.ts";

export function printQuery(query: Query): string {
  const orders = query.orderBy.map(
    ({ field, descending }) => printField(field) + (descending ? " desc" : ""),
  );
  const parts: string[] = [];
  if (query.where !== undefined) parts.push(printExpression(query.where));
  if (orders.length > 0) parts.push(`order by ${orders.join(", ")}`);
  return parts.join(" ");
}

/** A condition between two `and`. */
export function printTerm(condition: Expression): string {
  return printInside(condition, ["or"]);
}

function printExpression(expression: Expression): string {
  switch (expression.op) {
    case "and":
      return (
        printButNot(expression) ??
        expression.terms.map((term) => printInside(term, ["and", "or"])).join(" and ")
      );
    case "or":
      return expression.terms.map((term) => printInside(term, ["or"])).join(" or ");
    case "not":
      return printNot(expression.term);
    case "compare":
      return `${printField(expression.field)} ${expression.comparison} ${printLiteral(expression.field, expression.value)}`;
    case "in":
      return printIn(expression, "in");
    case "matches":
      return printMatches(expression.field, expression.pattern, false);
    case "is-null":
      return `${printField(expression.field)} is null`;
    case "under":
      return `namespace under ${quoteText(expression.path)}`;
  }
}

/** In parentheses where it would otherwise be read as part of what is around it. */
function printInside(term: Expression, loose: readonly string[]): string {
  const text = printExpression(term);
  const tight = !loose.includes(term.op) || printButNot(term) !== undefined;
  return tight ? text : `(${text})`;
}

function printNot(term: Expression): string {
  if (term.op === "is-null") return `${printField(term.field)} is not null`;
  if (term.op === "under") return `namespace not under ${quoteText(term.path)}`;
  return `not ${printInside(term, ["and", "or"])}`;
}

/** What the parser makes of `not in`, `not like` and `!~`. */
function printButNot(expression: Expression): string | undefined {
  if (expression.op !== "and" || expression.terms.length !== 2) return undefined;
  const [there, other] = expression.terms;
  if (there?.op !== "not" || there.term.op !== "is-null" || other?.op !== "not") return undefined;
  const { term } = other;
  if (term.op !== "in" && term.op !== "matches") return undefined;
  if (printField(term.field) !== printField(there.term.field)) return undefined;
  return term.op === "in" ? printIn(term, "not in") : printMatches(term.field, term.pattern, true);
}

function printIn({ field, values }: { field: QueryField; values: readonly Literal[] }, verb: string): string {
  return `${printField(field)} ${verb} (${values.map((value) => printLiteral(field, value)).join(", ")})`;
}

function printMatches(field: QueryField, pattern: RE2JS, negated: boolean): string {
  const regex = pattern.pattern();
  const like = regexToLike(regex);
  if (like === undefined) return `${printField(field)} ${negated ? "!~" : "~"} ${quoteText(regex)}`;
  const verb = like.ignoreCase ? "ilike" : "like";
  return `${printField(field)} ${negated ? "not " : ""}${verb} ${quoteText(like.like)}`;
}

function printLiteral(field: QueryField, value: Literal): string {
  if (typeof value === "string") return quoteText(value);
  if (typeof value === "boolean") return String(value);
  const time = fieldType(field) === "time" ? formatTimeUs(value) : undefined;
  if (time !== undefined) return quoteText(time);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Object.is(value, -0) ? "-0" : String(value);
}
