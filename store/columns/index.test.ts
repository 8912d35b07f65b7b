import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#core/query/arbitrary.ts";
import { compareRuns, matches, type RunView } from "#core/query/evaluate.ts";
import { viewScriptRun } from "#core/query/reference.ts";
import type { ScriptRun } from "#core/query/script.ts";
import {
  feedRow,
  idOf,
  metricFeed,
  scriptRow,
  scriptSeries,
  searchRequest,
} from "#store/contract/run-feeder.ts";
import type { RunFeedRow } from "#core/ports/run-search.ts";
import type { Query } from "#core/query/ast.ts";
import { BLOCK_ROWS } from "./cells.ts";
import { RunIndex } from "./index.ts";

/** So that there is a block without any of the columns. */
const BARE = { params: "{}", tags: new Map(), metrics: new Map(), aliases: [], startedUs: undefined };
const NO_CHANGE = { reset: false, runs: [], purged: [], metrics: undefined };

function expectAsReference(index: RunIndex, views: ReadonlyMap<string, RunView>, query: Query): void {
  const options = { limit: 10_000, nowUs: ARBITRARY_NOW_US };
  const { ids, total } = index.search(searchRequest(query, options));
  const { where } = query;
  const expected = [...views]
    .filter(([, view]) => where === undefined || matches(where, view))
    .map(([id]) => id);
  expect(total).toBe(expected.length);
  expect(new Set(ids)).toEqual(new Set(expected));
  const compare = compareRuns(query.orderBy);
  for (let at = 1; at < ids.length; at++) {
    if (compare(views.get(ids[at - 1]!)!, views.get(ids[at]!)!) >= 0) throw new Error(`wrong order at ${at}`);
  }
  const first = index.search(searchRequest(query, { ...options, limit: 50 }));
  expect(first.ids).toEqual(ids.slice(0, 50));
  if (first.next === undefined) return;
  const second = index.search(searchRequest(query, { ...options, limit: 300, after: first.next }));
  expect(second.ids).toEqual(ids.slice(50, 350));
}

describe("the run index", () => {
  it("finds what the reference evaluator finds in several blocks, dense, thinned out and filled again", () => {
    const samples = fc.sample(arbitraryRuns(12), { numRuns: 1_300, seed: 1 }).flat();
    const runs = samples.slice(0, 2 * BLOCK_ROWS + 600).map((run, key): ScriptRun => {
      return Object.assign(run, { id: idOf(key) }, key < BLOCK_ROWS ? BARE : {});
    });
    expect(runs).toHaveLength(2 * BLOCK_ROWS + 600);
    const index = new RunIndex();
    const views = new Map<string, RunView>();
    const put = (keys: readonly number[]) => {
      index.apply({
        ...NO_CHANGE,
        position: 1,
        runs: keys.map((key) => scriptRow(runs[key]!, key)),
        metrics: metricFeed(keys.flatMap((key) => scriptSeries(runs[key]!, key))),
      });
      for (const key of keys) views.set(idOf(key), viewScriptRun(runs[key]!, ARBITRARY_NOW_US));
    };
    const checkQueries = () =>
      fc.assert(
        fc.property(arbitraryQuery(), (query) => expectAsReference(index, views, query)),
        { numRuns: 100 },
      );
    put([...runs.keys()]);
    checkQueries();

    const purged = [...runs.keys()].filter((key) => key % 40 !== 0);
    index.apply({ ...NO_CHANGE, position: 2, purged });
    for (const key of purged) views.delete(idOf(key));
    checkQueries();

    put(purged.filter((key) => key % 3 === 0).toReversed());
    checkQueries();
  });

  it("keeps short lists, not long arrays, for 12,000 metric names of one run among 100,000", () => {
    const index = new RunIndex();
    for (let first = 0; first < 100_000; first += 10_000) {
      const runs: RunFeedRow[] = [];
      for (let key = first; key < first + 10_000; key++) runs.push(feedRow(key));
      index.apply({ ...NO_CHANGE, position: first + 1, runs });
    }
    const names = Array.from({ length: 12_000 }, (_, at) => `name ${at}`);
    const metrics = metricFeed(names.map((key, at) => ({ run: 77_777, key, points: [at] })));
    const before = process.memoryUsage();
    index.apply({ ...NO_CHANGE, position: 2e6, metrics });
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(64 << 20);
    const { ids, total } = index.search(searchRequest('metrics."name 11999" = 11999'));
    expect([ids, total]).toEqual([[idOf(77_777)], 1]);
  });

  it("forgets texts that no run has any more", () => {
    const index = new RunIndex();
    const text = "x".repeat(10_000);
    for (let round = 0; round < 20_000; round++) {
      const tags = [["progress", `${text}${round}`]] as const;
      index.apply({
        ...NO_CHANGE,
        position: round + 1,
        runs: [feedRow(round % 3, { tags, notes: `${text}${round}` })],
      });
    }
    const query = {
      where: { op: "compare", comparison: ">", field: { of: "tag", key: "progress" }, value: text },
    } as const;
    expect(index.search(searchRequest({ ...query, orderBy: [] })).total).toBe(3);
    // 20,000 texts of 10 kB in two columns would be 400 MB.
    expect(process.memoryUsage().heapUsed).toBeLessThan(300 << 20);
  });

  it("takes the best of many in any order of coming", () => {
    const rows = 3 * BLOCK_ROWS + 17;
    const orders: Record<string, (key: number) => number> = {
      rising: (key) => key,
      falling: (key) => rows - key,
      mixed: (key) => (key * 7919) % rows,
      equal: () => 1,
    };
    for (const [name, valueOf] of Object.entries(orders)) {
      const index = new RunIndex();
      const runs = Array.from({ length: rows }, (_, key) =>
        feedRow(key, { params: `{"x":${valueOf(key)}}` }),
      );
      index.apply({ ...NO_CHANGE, position: 1, runs });
      for (const descending of [false, true]) {
        const sorted = runs.toSorted((a, b) => {
          const difference = valueOf(a.key) - valueOf(b.key);
          return (descending ? -difference : difference) || b.createdUs - a.createdUs;
        });
        const found = index.search(
          searchRequest(`order by params.x ${descending ? "desc" : ""}`, { limit: 70 }),
        );
        expect(found.ids, name).toEqual(sorted.slice(0, 70).map(({ id }) => id));
        expect(found.total).toBe(rows);
      }
    }
  });
});
