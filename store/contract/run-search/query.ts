import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { joinObject } from "#lang/json/object-text.ts";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import { ReferenceEngine } from "#lang/query/testing/reference.ts";
import { readScripts, runScript } from "#lang/query/testing/script.ts";
import { feedRow, type OpenSearch, RunFeeder } from "../run-feeder.ts";

export function queryContract(open: OpenSearch, cases: number): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  for (const script of readScripts()) {
    it(`Q1 answers ${script.file}`, async () => {
      expect(await runScript(script, feeder)).toBeGreaterThan(0);
    });
  }

  it("finds what the reference evaluator finds, in the same order and on the same pages", async () => {
    const reference = new ReferenceEngine();
    await fc.assert(
      fc.asyncProperty(
        arbitraryRuns(),
        arbitraryQuery(),
        fc.integer({ min: 1, max: 5 }),
        async (runs, query, limit) => {
          await reference.load(runs);
          await feeder.load(runs);
          const all = { limit: 100, after: undefined, nowUs: ARBITRARY_NOW_US };
          const expected = await reference.search(query, all);
          expect(await feeder.search(query, all)).toEqual({ ...expected, next: undefined });

          const paged: string[] = [];
          let after: string | undefined;
          do {
            const page = await feeder.search(query, { limit, after, nowUs: ARBITRARY_NOW_US });
            expect(page.total).toBe(expected.total);
            paged.push(...page.names);
            after = page.next;
          } while (after !== undefined);
          expect(paged).toEqual(expected.names);
        },
      ),
      { numRuns: cases },
    );
  });

  it("sorts NaN after every number and missing after NaN, in both directions", async () => {
    feeder.tell({
      runs: [
        feedRow(1, { params: '{"x":NaN}' }),
        feedRow(2, { params: '{"x":1}' }),
        feedRow(3),
        feedRow(4, { params: '{"x":-Infinity}' }),
        feedRow(5, { params: '{"x":"text"}' }),
        feedRow(6, { params: '{"x":true}' }),
        feedRow(7, { params: '{"x":null}' }),
        feedRow(8, { params: '{"x":NaN}' }),
        feedRow(9, { params: '{"x":2}' }),
      ],
    });
    expect(await feeder.find("order by params.x")).toEqual([4, 2, 9, 5, 6, 8, 1, 7, 3]);
    expect(await feeder.find("order by params.x desc")).toEqual([6, 5, 9, 2, 4, 8, 1, 7, 3]);
    for (const order of ["order by params.x", "order by params.x desc"]) {
      const whole = await feeder.find(order);
      const paged: string[] = [];
      for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
        const page = await feeder.ask(order, { limit: 1, after });
        paged.push(...page.ids);
        after = page.next;
      }
      expect(paged.map((id) => Number(id.slice(1)))).toEqual(whole);
    }
  });

  it("breaks ties by creation, newest first, then by id", async () => {
    const createdUs = 1_000_000;
    feeder.tell({
      runs: [
        feedRow(1, { createdUs, id: "c" }),
        feedRow(2, { createdUs, id: "a" }),
        feedRow(3, { createdUs: createdUs + 1, id: "z" }),
        feedRow(4, { createdUs, id: "b" }),
      ],
    });
    for (const query of ["", "order by namespace", "order by params.none desc, status"]) {
      expect((await feeder.ask(query)).ids).toEqual(["z", "a", "b", "c"]);
    }
  });

  it("accepts any text as a key", async () => {
    const keys = [
      "__proto__",
      "constructor",
      "toString",
      "",
      " ",
      "a.b",
      ".",
      "😀",
      "naïve",
      "a\u0000b",
      "0",
      "x".repeat(512),
    ];
    const named = keys.map((key, at) => [key, at] as const);
    feeder.tell({
      runs: keys.map((key, at) => {
        return feedRow(at, { params: joinObject([[key, String(at)]]), tags: [[key, `t${at}`]] });
      }),
      metrics: named.map(([key, run]) => ({ run, key, points: [run] })),
    });
    for (const [key, at] of named) {
      const where = [
        { op: "compare", comparison: "=", field: { of: "param", key }, value: at },
        { op: "compare", comparison: "=", field: { of: "tag", key }, value: `t${at}` },
        { op: "compare", comparison: "=", field: { of: "metric", key, stat: "last" }, value: at },
      ] as const;
      for (const term of where) expect(await feeder.find({ where: term, orderBy: [] })).toEqual([at]);
      const order = { where: undefined, orderBy: [{ field: { of: "tag", key }, descending: true }] } as const;
      expect((await feeder.find(order))[0]).toBe(at);
    }
    const absent = { op: "is-null", field: { of: "param", key: "hasOwnProperty" } } as const;
    expect(await feeder.find({ where: absent, orderBy: [] })).toHaveLength(keys.length);
  });

  it("finds a value of any length", async () => {
    const long = "ü".repeat(30_000);
    const params = (text: string) => joinObject([["text", JSON.stringify(text)]]);
    feeder.tell({
      runs: [feedRow(1, { params: params(`${long}a`) }), feedRow(2, { params: params(`${long}b`) })],
    });
    const where = {
      op: "compare",
      comparison: "=",
      field: { of: "param", key: "text" },
      value: `${long}b`,
    } as const;
    expect(await feeder.find({ where, orderBy: [] })).toEqual([2]);
    expect(await feeder.find("order by params.text desc")).toEqual([2, 1]);
  });
}
