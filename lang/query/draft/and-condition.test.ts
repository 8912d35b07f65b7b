import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Expression } from "../ast.ts";
import { matches } from "../evaluate.ts";
import { parseQuery } from "../parser.ts";
import { printQuery } from "../print.ts";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "../testing/arbitrary.ts";
import { viewScriptRun } from "../testing/reference.ts";
import { andCondition } from "./and-condition.ts";

const NAMED: Expression = {
  op: "compare",
  field: { of: "run", name: "name" },
  comparison: "=",
  value: "or",
};
const EITHER: Expression = { op: "or", terms: [NAMED, { op: "under", path: "a/b" }] };

describe("a query with one more condition", () => {
  it.each([
    ["", NAMED, 'name = "or"'],
    ["order by name desc", NAMED, 'name = "or" order by name desc'],
    ["id = 'a or b'", NAMED, `id = 'a or b' and name = "or"`],
    [
      "id = 'a' OR started > now-7d order by name",
      NAMED,
      `(id = 'a' OR started > now-7d) and name = "or" order by name`,
    ],
    ["id = 'a'", EITHER, `id = 'a' and (name = "or" or namespace under "a/b")`],
    [
      "id = 'a'",
      { op: "and", terms: [EITHER, NAMED] },
      `id = 'a' and (name = "or" or namespace under "a/b") and name = "or"`,
    ],
    // The mistake stays where the user made it.
    ["params.lr <", NAMED, 'params.lr < and name = "or"'],
  ] satisfies [string, Expression, string][])("%s", (query, condition, expected) => {
    expect(andCondition(query, condition)).toBe(expected);
  });

  it("selects the runs that both select, in the same order", () => {
    fc.assert(
      fc.property(arbitraryRuns(), arbitraryQuery(), arbitraryQuery(), (runs, query, { where }) => {
        fc.pre(where !== undefined);
        const both = parseQuery(andCondition(printQuery(query), where), { nowUs: ARBITRARY_NOW_US });
        expect(printQuery({ where: undefined, orderBy: both.orderBy })).toBe(
          printQuery({ where: undefined, orderBy: query.orderBy }),
        );
        for (const run of runs) {
          const view = viewScriptRun(run, ARBITRARY_NOW_US);
          const wanted = (query.where === undefined || matches(query.where, view)) && matches(where, view);
          expect(matches(both.where!, view)).toBe(wanted);
        }
      }),
      { numRuns: 300 },
    );
  });
});
