/**
 * Queries that come as a tree, from a caller that makes them itself. They are held to the limits of texts, so that engines
 * need not expect more from one than from the other: every tree that the parser makes passes.
 */
import { byteLength } from "#base/byte-length.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Expression, Literal, Query, QueryField } from "./ast.ts";
import { printField } from "./field-text.ts";
import { fitsField, isOrderable, knowsComparison, manyValues, mayBeText } from "./fields.ts";
import { type ParseOptions, parseQuery } from "./parser.ts";
import { PatternBudget } from "./pattern.ts";

/** What is inside one pair of parentheses, `or` and `and`, are two levels of a tree; the rest is for a `not in` innermost. */
const LEVELS_MAX = 2 * limits.queryDepthMax + 5;

/** A query as text or as a tree. Throws `invalid`: QUERY_SYNTAX for a text, QUERY_TREE for a tree. */
export function readQuery(query: string | Query, options: ParseOptions): Query {
  if (typeof query === "string") return parseQuery(query, options);
  new TreeCheck(options.models === true).query(query);
  return query;
}

class TreeCheck {
  readonly #models: boolean;
  readonly #patterns = new PatternBudget();
  #nodes = 0;
  #bytes = 0;

  constructor(models: boolean) {
    this.#models = models;
  }

  query({ where, orderBy }: Query): void {
    if (where !== undefined) this.#expression(where, 1);
    for (const { field } of orderBy) {
      this.#count(1);
      this.#field(field);
      if (!isOrderable(field)) throw refusal(manyValues(field));
    }
  }

  #expression(expression: Expression, level: number): void {
    if (level > LEVELS_MAX) throw refusal(`it is nested deeper than ${limits.queryDepthMax}`);
    this.#count(1);
    switch (expression.op) {
      case "and":
      case "or":
        if (expression.terms.length < 2) throw refusal(`${expression.op} needs two terms`);
        for (const term of expression.terms) this.#expression(term, level + 1);
        return;
      case "not":
        return this.#expression(expression.term, level + 1);
      case "under":
        return this.#under(expression.path);
      default:
        this.#field(expression.field);
        return this.#predicate(expression);
    }
  }

  #predicate(expression: Extract<Expression, { field: QueryField }>): void {
    const { field } = expression;
    switch (expression.op) {
      case "compare": {
        const { comparison, value } = expression;
        this.#literal(field, value);
        if (knowsComparison(field, comparison, value)) return;
        throw refusal(`${nameOf(field)} does not compare by ${comparison} with ${said(value)}`);
      }
      case "in": {
        const { length } = expression.values;
        if (length === 0) throw refusal(`the list of ${nameOf(field)} is empty`);
        if (length > limits.queryListMax)
          throw refusal(`it has a list of more than ${limits.queryListMax} values`);
        this.#count(length);
        for (const value of expression.values) this.#literal(field, value);
        return;
      }
      case "matches": {
        const { pattern } = expression;
        if (!mayBeText(field)) throw refusal(`${nameOf(field)} is not text, so patterns do not apply`);
        if (pattern.flags() !== 0)
          throw refusal("a pattern has flags, which belong into its text, such as (?i)");
        this.#patterns.compile(pattern.pattern());
      }
    }
  }

  #under(path: string): void {
    this.#text(path);
    if (path.startsWith("/") || path.endsWith("/")) {
      throw refusal(`namespace ${quote(path)} begins or ends with a slash`);
    }
  }

  #field(field: QueryField): void {
    if (field.of === "model") {
      if (!this.#models) throw refusal(`${nameOf(field)} is a field of models, and runs are searched`);
    } else if (field.of !== "run") this.#text(field.key);
  }

  #literal(field: QueryField, value: Literal): void {
    if (typeof value === "string") this.#text(value);
    if (!fitsField(field, value)) throw refusal(`${nameOf(field)} does not compare with ${said(value)}`);
  }

  #text(text: string): void {
    if (!text.isWellFormed()) throw refusal(`a lone surrogate in ${quote(text)} is not a character`);
    this.#bytes += byteLength(text);
    if (this.#bytes > limits.queryBytesMax) {
      throw refusal(`its texts have more than ${limits.queryBytesMax} bytes together`);
    }
  }

  #count(nodes: number): void {
    this.#nodes += nodes;
    if (this.#nodes > limits.queryNodesMax) throw refusal(`it has more than ${limits.queryNodesMax} parts`);
  }
}

const NAME_LENGTH_MAX = 60;

function nameOf(field: QueryField): string {
  return printField(field).slice(0, NAME_LENGTH_MAX);
}

function said(value: Literal): string {
  return typeof value === "string" ? quote(value) : String(value);
}

function refusal(problem: string): CairnError {
  return new CairnError("invalid", `cannot read query: ${problem}`, {
    reason: "QUERY_TREE",
    hint: "a query given as a tree has the limits of one given as text",
  });
}
