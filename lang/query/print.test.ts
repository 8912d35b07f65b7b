import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "./testing/arbitrary.ts";
import { parseQuery } from "./parser.ts";
import { printQuery } from "./print.ts";
import { escapeLike, quoteList, quoteText } from "./quote.ts";
import { ReferenceEngine } from "./testing/reference.ts";
import { dose } from "../../tools/dose.ts";

/** Patterns by their text: compiled ones hold caches. */
function plain(value: unknown): unknown {
  if (value instanceof RE2JS) return { regex: value.pattern(), flags: value.flags() };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

test("what is printed parses to the same query", () => {
  fc.assert(
    fc.property(arbitraryQuery(), (query) => {
      const text = printQuery(query);
      expect(plain(parseQuery(text, { nowUs: 0 })), text).toEqual(plain(query));
      expect(printQuery(parseQuery(text, { nowUs: 0 }))).toBe(text);
    }),
    { numRuns: dose(300, 5_000) },
  );
});

test("the pages of any search join to the whole result", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryRuns(), arbitraryQuery(), async (runs, query) => {
      const engine = new ReferenceEngine();
      await engine.load(runs);
      const nowUs = ARBITRARY_NOW_US;
      const whole = await engine.search(query, { limit: 100, after: undefined, nowUs });
      const names: string[] = [];
      let after: string | undefined;
      do {
        const page = await engine.search(query, { limit: 2, after, nowUs });
        names.push(...page.names);
        after = page.next;
      } while (after !== undefined);
      expect(names).toEqual(whole.names);
      expect(whole.total).toBe(names.length);
    }),
    { numRuns: dose(100, 2_000) },
  );
});

const CANONICAL: readonly (readonly [typed: string, printed: string])[] = [
  ["", ""],
  ['  status=="failed"', 'status = "failed"'],
  ["NOT(params.a=1)", "not params.a = 1"],
  ["params.a = 1 and (params.b = 2 or params.c = 3)", "params.a = 1 and (params.b = 2 or params.c = 3)"],
  ["(params.a = 1 and params.b = 2) or params.c = 3", "params.a = 1 and params.b = 2 or params.c = 3"],
  ["(params.a = 1 and params.b = 2) and params.c = 3", "(params.a = 1 and params.b = 2) and params.c = 3"],
  ["params.a not in (1,2) or params.b is not null", "params.a not in (1, 2) or params.b is not null"],
  ["params.a is not null and not params.a in (1)", "params.a not in (1)"],
  ["params.a is not null and not params.b in (1)", "params.a is not null and not params.b in (1)"],
  ["name like 'a%'", 'name like "a%"'],
  ["name not ilike 'a_\\\\_'", 'name not ilike "a_\\\\_"'],
  ["name ~ `a.*\\d`", 'name ~ "a.*\\\\d"'],
  ["name !~ `^(?s:a.*)$`", 'name not like "a%"'],
  ["namespace not under 'a/b/'", 'namespace not under "a/b"'],
  ["params.`optim.lr` = .5", "params.optim.lr = 0.5"],
  ["params.`a.b c` is null", 'params.a."b c" is null'],
  ['params."learning rate" = 1e21', 'params."learning rate" = 1e+21'],
  ["metrics.loss < -0", "metrics.loss.last < -0"],
  ['metrics.a."max" = inf', "metrics.a.max.last = inf"],
  ["metrics.max = -inf", "metrics.max.last = -inf"],
  ["params.x = nan", "params.x = nan"],
  ["started > '2026-01-31 10:00+02:00'", 'started > "2026-01-31T08:00:00Z"'],
  ["started > '2026-01-31T00:00:00'", 'started > "2026-01-31"'],
  ["started > 1.5", "started > 1.5"],
  ["ended < -1", 'ended < "1969-12-31T23:59:59.999999Z"'],
  ["created < now", 'created < "1970-01-01T00:00:00.000042Z"'],
  ["duration > 2h", "duration > 7200"],
  ["order by name asc, metrics.loss.min DESC", "order by name, metrics.loss.min desc"],
];

test.each(CANONICAL)("%s prints as %s", (typed, printed) => {
  expect(printQuery(parseQuery(typed, { nowUs: 42 }))).toBe(printed);
});

test("a quoted text matches itself", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }), { minLength: 1 }), (texts) => {
      const { where } = parseQuery(`name in ${quoteList(texts)}`, { nowUs: 0 });
      expect(where).toMatchObject({ op: "in", values: texts });
    }),
  );
  expect(quoteText("\ud800")).toBe('"\ufffd"');
});

test("an escaped pattern matches its own text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const { pattern } = parseQuery(`name like ${quoteText(escapeLike(text))}`, { nowUs: 0 }).where as {
        pattern: RE2JS;
      };
      expect(pattern.test(text)).toBe(true);
      expect(pattern.test(`${text}x`)).toBe(false);
    }),
  );
});
