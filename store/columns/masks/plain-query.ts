/**
 * Queries as data that survives structured clone: a compiled pattern does not, so it is sent as its
 * source and is compiled again on the other side. The mask of the caller is large and is sent only
 * once: after that its id is sent.
 */
import { RE2JS } from "re2js";
import type { ReadMask } from "#core/types/scope.ts";
import type { RunSelection } from "#core/ports/run-search.ts";
import type { Expression, Query, QueryField } from "#lang/query/ast.ts";

type PlainExpression =
  | { op: "and" | "or"; terms: readonly PlainExpression[] }
  | { op: "not"; term: PlainExpression }
  | { op: "matches"; field: QueryField; source: string; flags: number }
  | Exclude<Expression, { op: "and" | "or" | "not" | "matches" }>;

/** Itself, or its id when the other side has seen it. */
export type PlainMask = ReadMask | string | undefined;

/** A request for runs, as data. */
export type Plain<R extends RunSelection> = Omit<R, "query" | "readable"> & {
  readable: PlainMask;
  query: Omit<Query, "where"> & { where: PlainExpression | undefined };
};

export function toPlainRequest<R extends RunSelection>(request: R, readable: PlainMask): Plain<R> {
  const { where, orderBy } = request.query;
  return { ...request, readable, query: { where: where && toPlain(where), orderBy } };
}

export function fromPlainRequest<R extends RunSelection>(
  request: Plain<R>,
  readable: ReadMask | undefined,
): Omit<R, "query" | "readable"> & Pick<RunSelection, "query" | "readable"> {
  const { where, orderBy } = request.query;
  return { ...request, readable, query: { where: where && fromPlain(where), orderBy } };
}

function toPlain(expression: Expression): PlainExpression {
  switch (expression.op) {
    case "and":
    case "or":
      return { op: expression.op, terms: expression.terms.map(toPlain) };
    case "not":
      return { op: "not", term: toPlain(expression.term) };
    case "matches": {
      const { field, pattern } = expression;
      return { op: "matches", field, source: pattern.pattern(), flags: pattern.flags() };
    }
    default:
      return expression;
  }
}

function fromPlain(expression: PlainExpression): Expression {
  switch (expression.op) {
    case "and":
    case "or":
      return { op: expression.op, terms: expression.terms.map(fromPlain) };
    case "not":
      return { op: "not", term: fromPlain(expression.term) };
    case "matches": {
      const { field, source, flags } = expression;
      return { op: "matches", field, pattern: RE2JS.compile(source, flags) };
    }
    default:
      return expression;
  }
}
