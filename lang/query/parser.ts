/**
 * Recursive descent over the tokens, one method per rule:
 *
 *   query     := [or] ["order" "by" order {"," order}]
 *   or        := and {"or" and}
 *   and       := not {"and" not}
 *   not       := "not" not | "(" or ")" | field predicate
 *   predicate := ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") value
 *              | ["not"] "in" "(" value {"," value} ")" | ["not"] ("like" | "ilike") string
 *              | ("~" | "!~") string | "is" ["not"] "null" | ["not"] "under" string
 *   order     := field ["asc" | "desc"]
 *
 * Only "not" and "(" recurse, at most queryDepthMax deep.
 */
import { byteLength } from "#base/byte-length.ts";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Comparison, Expression, Literal, Order, Query, QueryField } from "./ast.ts";
import { Cursor } from "./cursor.ts";
import { isOrderable, knowsComparison, manyValues, mayBeText } from "./fields.ts";
import type { Token } from "./lexer.ts";
import { type NamedField, parseField, parseModelField } from "./parse-field.ts";
import { parseLiteral } from "./parse-literal.ts";
import { PatternBudget } from "./pattern.ts";
import { syntaxError } from "./syntax-error.ts";
import { likeToRegex } from "./wildcards.ts";

export interface ParseOptions {
  /** What `now` means. */
  nowUs: number;
  /** The name of the caller's principal, which is what `creator = me` means; without it `me` is refused. */
  me?: string;
  /** Whether models are searched, so that the query may have their fields; false when absent. */
  models?: boolean;
  /** Only for text made by `printQuery`, which may be longer than what was typed. */
  bytesMax?: number;
}

/** Throws `invalid` (QUERY_SYNTAX, fact column) for everything that is not a query. "" selects all runs. */
export function parseQuery(text: string, options: ParseOptions): Query {
  const bytesMax = options.bytesMax ?? limits.queryBytesMax;
  const sizeBytes = byteLength(text);
  if (sizeBytes > bytesMax)
    throw syntaxError("query", text, 0, `${sizeBytes} bytes are more than ${bytesMax}`);
  return new Parser(text, options).query();
}

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ["=", "="],
  ["==", "="],
  ["!=", "!="],
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);

class Parser {
  readonly #cursor: Cursor;
  readonly #options: ParseOptions;
  readonly #parseField: (cursor: Cursor) => NamedField;
  #depth = 0;
  readonly #patterns = new PatternBudget();

  constructor(text: string, options: ParseOptions) {
    this.#cursor = new Cursor(text, "query");
    this.#options = options;
    this.#parseField = options.models === true ? parseModelField : parseField;
  }

  query(): Query {
    const cursor = this.#cursor;
    const all = cursor.peek().kind === "end" || cursor.atWord("order");
    const where = all ? undefined : this.#or();
    const ordered = cursor.takeWord("order");
    const orderBy = ordered ? this.#orderBy() : [];
    if (cursor.peek().kind === "end") return { where, orderBy };
    if (ordered) throw cursor.unexpected('asc, desc, "," or the end', ["desc", "asc"]);
    throw cursor.unexpected("and, or, order by or the end", ["and", "or", "order"]);
  }

  #orderBy(): Order[] {
    if (!this.#cursor.takeWord("by")) throw this.#cursor.unexpected("by", ["by"]);
    const orderBy: Order[] = [];
    do orderBy.push(this.#order());
    while (this.#cursor.takeSymbol(","));
    return orderBy;
  }

  #order(): Order {
    const token = this.#cursor.peek();
    const { field } = this.#parseField(this.#cursor);
    if (!isOrderable(field)) {
      throw this.#cursor.errorAt(token, manyValues(field), {
        hint: "order by name or id",
      });
    }
    const descending = this.#cursor.takeWord("desc");
    if (!descending) this.#cursor.takeWord("asc");
    return { field, descending };
  }

  #or(): Expression {
    const terms = [this.#and()];
    while (this.#cursor.takeWord("or")) terms.push(this.#and());
    return terms.length === 1 ? terms[0]! : { op: "or", terms };
  }

  #and(): Expression {
    const terms = [this.#not()];
    while (this.#cursor.takeWord("and")) terms.push(this.#not());
    return terms.length === 1 ? terms[0]! : { op: "and", terms };
  }

  #not(): Expression {
    const token = this.#cursor.peek();
    const negated = this.#cursor.takeWord("not");
    if (!negated && !this.#cursor.takeSymbol("(")) return this.#predicate();
    if (++this.#depth > limits.queryDepthMax) {
      throw this.#cursor.errorAt(token, `nested deeper than ${limits.queryDepthMax}`);
    }
    const inner = negated ? this.#not() : this.#or();
    if (!negated && !this.#cursor.takeSymbol(")")) {
      throw this.#cursor.unexpected('and, or or ")"', ["and", "or"]);
    }
    this.#depth--;
    return negated ? { op: "not", term: inner } : inner;
  }

  #predicate(): Expression {
    const cursor = this.#cursor;
    const named = this.#parseField(cursor);
    const token = cursor.peek();
    const symbol = token.kind === "symbol" ? token.text : "";
    const comparison = COMPARISONS.get(symbol);
    if (comparison !== undefined) {
      cursor.step();
      return this.#compare(named, token, comparison);
    }
    if (cursor.takeSymbol("~")) return this.#matches(named, token, (text) => text);
    if (cursor.takeSymbol("!~"))
      return butNot(
        named.field,
        this.#matches(named, token, (text) => text),
      );
    if (cursor.takeWord("is")) return this.#isNull(named.field);
    const negated = cursor.takeWord("not");
    const positive = this.#wordPredicate(named);
    if (!negated) return positive;
    // A namespace is always there.
    return positive.op === "under" ? { op: "not", term: positive } : butNot(named.field, positive);
  }

  #wordPredicate(named: NamedField): Expression {
    const cursor = this.#cursor;
    const token = cursor.peek();
    if (cursor.takeWord("in")) return { op: "in", field: named.field, values: this.#list(named) };
    if (cursor.takeWord("like")) {
      return this.#matches(named, token, (text) => likeToRegex(text, { ignoreCase: false }));
    }
    if (cursor.takeWord("ilike")) {
      return this.#matches(named, token, (text) => likeToRegex(text, { ignoreCase: true }));
    }
    if (cursor.takeWord("under")) return this.#under(named, token);
    const words = ["in", "like", "ilike", "is", "not", "under"];
    throw cursor.unexpected("a comparison such as =, <, in, like, ~ or is null", words);
  }

  #compare(named: NamedField, operator: Token, comparison: Comparison): Expression {
    const value = parseLiteral(this.#cursor, named, this.#options);
    if (knowsComparison(named.field, comparison, value)) {
      return { op: "compare", field: named.field, comparison, value };
    }
    const subject = typeof value === "boolean" ? "true and false compare" : `${named.name} compares`;
    throw this.#cursor.errorAt(operator, `${subject} only with = and !=`);
  }

  #isNull(field: QueryField): Expression {
    const negated = this.#cursor.takeWord("not");
    if (!this.#cursor.takeWord("null")) {
      throw this.#cursor.unexpected(negated ? "null" : "null or not null", ["null", "not"]);
    }
    return negated ? { op: "not", term: { op: "is-null", field } } : { op: "is-null", field };
  }

  #list(named: NamedField): Literal[] {
    const cursor = this.#cursor;
    if (!cursor.takeSymbol("(")) throw cursor.unexpected('"(" and a list of values');
    const values: Literal[] = [];
    do {
      if (values.length === limits.queryListMax) {
        throw cursor.errorAt(cursor.peek(), `more than ${limits.queryListMax} values`);
      }
      values.push(parseLiteral(cursor, named, this.#options));
    } while (cursor.takeSymbol(","));
    if (!cursor.takeSymbol(")")) throw cursor.unexpected('"," or ")"');
    return values;
  }

  #matches({ field, name }: NamedField, operator: Token, toRegex: (text: string) => string): Expression {
    if (!mayBeText(field)) {
      throw this.#cursor.errorAt(operator, `${name} is not text, so patterns do not apply`);
    }
    const token = this.#cursor.peek();
    const regex = toRegex(this.#cursor.takeString("a pattern in quotes"));
    try {
      return { op: "matches", field, pattern: this.#patterns.compile(regex) };
    } catch (thrown) {
      const error = CairnError.from(thrown);
      if (error.code !== "invalid") throw error;
      throw this.#cursor.errorAt(token, error.message, { hint: error.hint, cause: error });
    }
  }

  #under({ field, name }: NamedField, operator: Token): Expression {
    if (field.of !== "run" || field.name !== "namespace") {
      throw this.#cursor.errorAt(operator, `${name} does not support under`, {
        hint: 'write namespace under "a/b"',
      });
    }
    const path = this.#cursor.takeString("a namespace in quotes");
    let start = 0;
    let end = path.length;
    while (path[start] === "/") start++;
    while (end > start && path[end - 1] === "/") end--;
    return { op: "under", path: path.slice(start, end) };
  }
}

/** Has a value, but another one: a missing value makes `not in` false, like `!=`. */
function butNot(field: QueryField, term: Expression): Expression {
  return {
    op: "and",
    terms: [
      { op: "not", term: { op: "is-null", field } },
      { op: "not", term },
    ],
  };
}
