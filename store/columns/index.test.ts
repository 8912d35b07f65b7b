import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryInUse } from "#base/testing/memory-in-use.ts";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import { joinObject, splitObject } from "#lang/json/object-text.ts";
import { compareRuns, matches, type RunView } from "#lang/query/evaluate.ts";
import { viewScriptRun } from "#lang/query/testing/reference.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import { viewRun } from "#lang/query/testing/view.ts";
import {
  feedRow,
  idOf,
  metricFeed,
  scriptRow,
  scriptSeries,
  searchRequest,
} from "#store/contract/run-feeder.ts";
import type { RunFeedRow } from "#core/ports/run-changes.ts";
import type { Query } from "#lang/query/ast.ts";
import { BLOCK_ROWS } from "./cells/cells.ts";
import { RunIndex } from "./index.ts";
import { dose } from "../../tools/dose.ts";

/** A block without any of the columns, nearly all of it purged, and enough in the next one for dense columns. */
const BARE_ROWS = BLOCK_ROWS;
const BARE_ROWS_LEFT = 150;
const FILLED_ROWS = 0.35 * BLOCK_ROWS;
const NO_CHANGE = { reset: false, runs: [], purged: [], metrics: undefined };

/** With some keys that every run has, so that there are dense columns of each kind. */
function filled(run: ScriptRun, key: number): ScriptRun {
  const params = new Map([["y", String(key % 5)], ...splitObject(run.params)]);
  const tags = new Map([["team", `t${key % 3}`], ...run.tags]);
  const metrics = new Map([["loss", [key % 7]], ...run.metrics]);
  return { ...run, id: idOf(key), params: joinObject(params), tags, metrics };
}

function expectAsReference(index: RunIndex, views: ReadonlyMap<string, RunView>, query: Query): void {
  const options = { limit: 100_000, nowUs: ARBITRARY_NOW_US };
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
  it("finds what the reference evaluator finds in several blocks, dense, sparse and filled again", () => {
    const samples = fc.sample(arbitraryRuns(12), { numRuns: 1_000, seed: 1 }).flat();
    const runs = samples.slice(0, FILLED_ROWS).map((run, at) => filled(run, BARE_ROWS + at));
    expect(runs.length).toBeGreaterThan(FILLED_ROWS - 1);
    const index = new RunIndex();
    const views = new Map<string, RunView>();
    const put = (keys: readonly number[]) => {
      index.apply({
        ...NO_CHANGE,
        runs: keys.map((key) => scriptRow(runs[key - BARE_ROWS]!, key)),
        metrics: metricFeed(keys.flatMap((key) => scriptSeries(runs[key - BARE_ROWS]!, key))),
      });
      for (const key of keys) views.set(idOf(key), viewScriptRun(runs[key - BARE_ROWS]!, ARBITRARY_NOW_US));
    };
    const checkQueries = () =>
      fc.assert(
        fc.property(arbitraryQuery(), (query) => expectAsReference(index, views, query)),
        { numRuns: dose(25, 100) },
      );
    const bare = Array.from({ length: BARE_ROWS }, (_, key) => ({ ...feedRow(key), startedUs: undefined }));
    index.apply({ ...NO_CHANGE, runs: bare });
    const all = runs.map((_, at) => BARE_ROWS + at);
    put(all);
    index.apply({ ...NO_CHANGE, purged: bare.slice(BARE_ROWS_LEFT).map(({ key }) => key) });
    for (const row of bare.slice(0, BARE_ROWS_LEFT)) {
      const run = { ...row, tags: new Map<string, string>() };
      views.set(
        row.id,
        viewRun(run, () => undefined, ARBITRARY_NOW_US),
      );
    }
    checkQueries();

    const purged = all.filter((key) => key % 40 !== 0);
    index.apply({ ...NO_CHANGE, purged });
    for (const key of purged) views.delete(idOf(key));
    checkQueries();

    put(purged.filter((key) => key % 3 > 0).toReversed());
    checkQueries();
  });

  it("keeps short lists, not long arrays, for 12,000 metric names of one run among 100,000", () => {
    const index = new RunIndex();
    for (let first = 0; first < 100_000; first += 10_000) {
      const runs: RunFeedRow[] = [];
      for (let key = first; key < first + 10_000; key++) runs.push(feedRow(key));
      index.apply({ ...NO_CHANGE, runs });
    }
    const names = Array.from({ length: 12_000 }, (_, at) => `name ${at}`);
    const metrics = metricFeed(names.map((key, at) => ({ run: 77_777, key, points: [at] })));
    const before = process.memoryUsage();
    index.apply({ ...NO_CHANGE, metrics });
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
    expect(after.heapUsed - before.heapUsed).toBeLessThan(64 << 20);
    const { ids, total } = index.search(searchRequest('metrics."name 11999" = 11999'));
    expect([ids, total]).toEqual([[idOf(77_777)], 1]);
  });

  it("drops texts that no run has any more", () => {
    const index = new RunIndex();
    const text = "x".repeat(10_000);
    const before = memoryInUse().heapUsed;
    for (let round = 0; round < 20_000; round++) {
      const tags = [["progress", `${text}${round}`]] as const;
      index.apply({
        ...NO_CHANGE,
        runs: [feedRow(round % 3, { tags, notes: `${text}${round}` })],
      });
    }
    const query = {
      where: { op: "compare", comparison: ">", field: { of: "tag", key: "progress" }, value: text },
    } as const;
    expect(index.search(searchRequest({ ...query, orderBy: [] })).total).toBe(3);
    // 20,000 texts of 10 kB in two columns would be 400 MB.
    expect(memoryInUse().heapUsed - before).toBeLessThan(64 << 20);
  });

  it("aborts a search that takes too long", () => {
    const index = new RunIndex({ searchMsMax: 10 });
    const runs = Array.from({ length: 200 }, (_, key) =>
      feedRow(key, { notes: `${"ab".repeat(50_000)}${key}` }),
    );
    index.apply({ ...NO_CHANGE, runs });
    const slow = searchRequest('notes ~ "^(a|b)*[xy]$"');
    expect(() => index.search(slow)).toThrow(
      expect.objectContaining({ code: "deadline", reason: "SEARCH_SLOW" }),
    );
    expect(index.search(searchRequest("")).total).toBe(200);
  });

  it("finds the best of many in any order of arrival", () => {
    const rows = 2 * BLOCK_ROWS + 17;
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
      index.apply({ ...NO_CHANGE, runs });
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
