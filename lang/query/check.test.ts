import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Expression, Field, Query } from "./ast.ts";
import { readQuery } from "./check.ts";
import { parseQuery } from "./parser.ts";
import { compilePattern } from "./pattern.ts";
import { printQuery } from "./print.ts";
import { arbitraryText } from "./testing/arbitrary-text.ts";
import { arbitraryQuery } from "./testing/arbitrary.ts";

const NOW = { nowUs: 1_770_000_000_000_000 };
const NAME: Field = { of: "run", name: "name" };
const STATUS: Field = { of: "run", name: "status" };
const CREATED: Field = { of: "run", name: "created" };
const LOSS: Field = { of: "metric", key: "loss", stat: "last" };
const PARAM: Field = { of: "param", key: "x" };

/** A piece as often as fits into a text of a query. */
function filled(before: string, piece: string, between: string, after = ""): string {
  const room = limits.queryBytesMax - before.length - after.length - piece.length;
  const more = Math.floor(room / (between.length + piece.length));
  return before + [piece, ...Array.from({ length: more }, () => piece)].join(between) + after;
}

function nested(times: number, inner: Expression): Expression {
  let expression = inner;
  for (let i = 0; i < times; i++) expression = { op: "not", term: expression };
  return expression;
}

function where(expression: Expression): Query {
  return { where: expression, orderBy: [] };
}

const A: Expression = { op: "is-null", field: PARAM };

/** What texts of the full size and depth say in the smallest way. */
const DENSEST: Readonly<Record<string, string>> = {
  comparisons: filled("", "id=''", "or "),
  "lists that are negated": filled("", "id not in('')", "and "),
  "long lists": filled("", `params.x in(${Array.from({ length: 1_000 }, () => "1").join()})`, "or "),
  orders: filled("order by ", "id", ","),
  nots: filled("", `${"not ".repeat(limits.queryDepthMax)}id=''`, "or "),
  "null checks": filled("", "id is not null", " or "),
  patterns: Array.from({ length: 200 }, () => "id!~''").join("or "),
  parentheses: `${"id=''or id=''and(".repeat(limits.queryDepthMax)}id=''or id=''and id not in('')${")".repeat(limits.queryDepthMax)}`,
  "a long text": `name='${"é".repeat(limits.queryBytesMax / 2 - 4)}'`,
  "a key": `params."${"k".repeat(limits.queryBytesMax - 20)}"=1`,
};

describe("a query as a tree", () => {
  it("Q10 passes when the parser has made it, of whatever text", () => {
    const text = fc.oneof(arbitraryText(), arbitraryQuery().map(printQuery));
    fc.assert(
      fc.property(text, (one) => {
        let query: Query;
        try {
          query = parseQuery(one, NOW);
        } catch {
          return;
        }
        expect(readQuery(query, NOW)).toBe(query);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(Object.entries(DENSEST))(
    "Q10 passes when the parser has made it of the longest text: %s",
    (_, text) => {
      const query = parseQuery(text, NOW);
      expect(readQuery(query, NOW)).toBe(query);
      expect(readQuery(text, NOW)).toEqual(query);
    },
  );

  const list = (length: number): Expression => ({
    op: "in",
    field: PARAM,
    values: Array.from({ length }, () => 1),
  });
  const or = (length: number, term: Expression): Expression => ({
    op: "or",
    terms: Array.from({ length }, () => term),
  });
  const like = (text: string): Expression => ({
    op: "matches",
    field: NAME,
    pattern: compilePattern(text, "pattern"),
  });
  const REFUSED: Readonly<Record<string, [query: Query, problem: string]>> = {
    depth: [where(nested(200, A)), "it is nested deeper than 64"],
    "very much depth": [where(nested(100_000, A)), "it is nested deeper than 64"],
    nodes: [where(or(10_001, A)), "it has more than 10000 parts"],
    "values of all lists": [where(or(11, list(1_000))), "it has more than 10000 parts"],
    orders: [
      {
        where: undefined,
        orderBy: Array.from({ length: 10_001 }, () => ({ field: NAME, descending: false })),
      },
      "it has more than 10000 parts",
    ],
    "a long list": [where(list(1_001)), "it has a list of more than 1000 values"],
    "an empty list": [where(list(0)), "the list of params.x is empty"],
    "one term": [where({ op: "and", terms: [A] }), "and needs two terms"],
    "long texts": [
      where(or(17, { op: "compare", field: NAME, comparison: "=", value: "x".repeat(1_024) })),
      "its texts have more than 16384 bytes together",
    ],
    "long keys": [
      where({ op: "is-null", field: { of: "tag", key: "é".repeat(8_193) } }),
      "its texts have more than 16384 bytes together",
    ],
    "a long path": [where({ op: "under", path: "x".repeat(16_385) }), "its texts have more than 16384 bytes"],
    "a path with slashes": [where({ op: "under", path: "/a" }), 'namespace "/a" begins or ends with a slash'],
    "a lone surrogate": [where({ op: "under", path: "\ud800" }), "is not a character"],
    "a literal of another type": [
      where({ op: "compare", field: LOSS, comparison: "=", value: "low" }),
      'metrics.loss.last does not compare with "low"',
    ],
    "a literal of another type in a list": [
      where({ op: "in", field: CREATED, values: [1, "2026"] }),
      'created does not compare with "2026"',
    ],
    "an unknown status": [
      where({ op: "in", field: STATUS, values: ["runing"] }),
      'status does not compare with "runing"',
    ],
    "an order of statuses": [
      where({ op: "compare", field: STATUS, comparison: "<", value: "running" }),
      'status does not compare by < with "running"',
    ],
    "an order of bools": [
      where({ op: "compare", field: PARAM, comparison: ">=", value: true }),
      "params.x does not compare by >= with true",
    ],
    "a pattern for numbers": [
      where({ ...like("a"), field: LOSS } as Expression),
      "is not text, so patterns do not apply",
    ],
    "a pattern with flags": [
      where({ op: "matches", field: NAME, pattern: RE2JS.compile("a", RE2JS.CASE_INSENSITIVE) }),
      "a pattern has flags",
    ],
    "a long pattern": [
      where({ op: "matches", field: NAME, pattern: RE2JS.compile("a".repeat(1_025)) }),
      "1025 bytes are more than 1024",
    ],
    "a dear pattern": [
      where({ op: "matches", field: NAME, pattern: RE2JS.compile("(abcdefghij){600}") }),
      "its repetitions are too large",
    ],
    "many patterns": [where(or(20, like("(abc){100}"))), "the patterns are too large together"],
    "a field of models": [
      where({ op: "is-null", field: { of: "model", name: "step" } }),
      "model.step is a field of models, and runs are searched",
    ],
    "an order by aliases": [
      { where: undefined, orderBy: [{ field: { of: "run", name: "alias" }, descending: false }] },
      "a run may have many aliases",
    ],
  };

  it.each(Object.entries(REFUSED))("Q10 is refused for what no text could say: %s", (_, [query, problem]) => {
    let refusal: unknown;
    try {
      readQuery(query, NOW);
    } catch (thrown) {
      refusal = thrown;
    }
    expect(refusal).toBeInstanceOf(CairnError);
    expect((refusal as CairnError).code).toBe("invalid");
    expect((refusal as CairnError).message).toContain(problem);
  });
});
