import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import { ReferenceEngine } from "#lang/query/testing/reference.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import { feedRow, idOf, type OpenSearch, RunFeeder, scriptRow, scriptSeries } from "../run-feeder.ts";

export function feedContract(open: OpenSearch, cases: number, positions: boolean): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  it("begin with no run at all", async () => {
    const found = await feeder.ask("params.x = 1 order by metrics.y", {
      metrics: [{ key: "y", stat: "last" }],
    });
    expect(found).toEqual({ ids: [], metrics: [[]], total: 0, next: undefined });
    expect(await feeder.runSearch.tally()).toEqual([]);
  });

  it("replace all params, tags and aliases of a run", async () => {
    feeder.tell({
      runs: [
        feedRow(1, { params: '{"x":1,"y":"a"}', tags: [["t", "1"]], aliases: ["one", "uno"], name: "old" }),
        feedRow(2, { params: '{"x":2}' }),
      ],
    });
    feeder.tell({
      runs: [
        feedRow(1, {
          params: '{"x":"1","z":{"q":true}}',
          tags: [["u", "2"]],
          aliases: ["eins"],
          name: "new",
        }),
      ],
    });
    const found: Record<string, number[]> = {
      "params.x = 1": [],
      'params.x = "1"': [1],
      "params.y is not null": [],
      "params.z.q = true": [1],
      "tags.t is not null": [],
      'tags.u = "2"': [1],
      'alias in ("one", "uno")': [],
      'alias = "eins"': [1],
      'name = "old"': [],
      'name = "new"': [1],
      "params.x = 2": [2],
    };
    for (const [query, keys] of Object.entries(found)) expect(await feeder.find(query), query).toEqual(keys);
  });

  it("keep the metrics of a run whose params change", async () => {
    feeder.tell({ runs: [feedRow(1)], metrics: [{ run: 1, key: "loss", points: [3, 1] }] });
    feeder.tell({ runs: [feedRow(1, { params: '{"x":1}', status: "failed" })] });
    expect(await feeder.find('metrics.loss.min = 1 and params.x = 1 and status = "failed"')).toEqual([1]);
  });

  it("drop purged runs and reuse their rows", async () => {
    const runs = [1, 2, 3].map((key) =>
      feedRow(key, { params: '{"x":1}', tags: [["t", "a"]], aliases: [`a${key}`] }),
    );
    feeder.tell({ runs, metrics: [1, 2, 3].map((run) => ({ run, key: "m", points: [run] })) });
    feeder.tell({ purged: [2, 99] });
    expect(await feeder.find("order by id")).toEqual([1, 3]);
    expect(await feeder.find('alias = "a2"')).toEqual([]);
    feeder.tell({ runs: [feedRow(4), feedRow(5)] });
    expect(await feeder.find("params.x is null order by id")).toEqual([4, 5]);
    expect(await feeder.find("tags.t is null and metrics.m is null order by id")).toEqual([4, 5]);
    expect((await feeder.ask("")).total).toBe(4);
  });

  it("may reuse the key of a purged run in the same batch", async () => {
    feeder.tell({
      runs: [feedRow(1, { params: '{"x":1}' })],
      metrics: [{ run: 1, key: "m", points: [1] }],
    });
    feeder.tell({ purged: [1], runs: [{ ...feedRow(1), id: idOf(8) }] });
    expect(await feeder.find("params.x is null and metrics.m is null")).toEqual([8]);
  });

  it("ignore metrics of an unknown run", async () => {
    feeder.tell({ runs: [feedRow(1)], metrics: [{ run: 7, key: "m", points: [1] }] });
    expect(await feeder.find("metrics.m is not null")).toEqual([]);
    feeder.tell({ runs: [feedRow(7)] });
    expect(await feeder.find("metrics.m is not null")).toEqual([]);
  });

  it("start again with a reset", async () => {
    feeder.tell({
      runs: [feedRow(1, { aliases: ["a"] }), feedRow(2)],
      metrics: [{ run: 1, key: "m", points: [1] }],
    });
    feeder.tell({ reset: true, runs: [feedRow(2)] });
    expect(await feeder.find("")).toEqual([2]);
    expect(await feeder.find("metrics.m is null")).toEqual([2]);
    expect(await feeder.find('alias = "a"')).toEqual([]);
    feeder.tell({ reset: true });
    expect(await feeder.find("")).toEqual([]);
  });

  it("agree with the reference evaluator, in any sequence", async () => {
    const place = fc.integer({ min: 0, max: 7 });
    const change = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ verb: fc.constant("put" as const), place, run: arbitraryRuns(1) }),
      },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant("purge" as const), place }) },
    );
    const batches = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 });
    const reference = new ReferenceEngine();
    await fc.assert(
      fc.asyncProperty(batches, arbitraryQuery(), async (all, query) => {
        await feeder.load([]);
        const now = new Map<number, ScriptRun>();
        for (const changes of all) {
          for (const one of changes) {
            if (one.verb === "purge") {
              now.delete(one.place);
              feeder.tell({ purged: [one.place] });
            } else if (one.run[0] !== undefined) {
              // A run keeps its metrics when it is sent again, so the model keeps them too.
              const metrics = new Map([...(now.get(one.place)?.metrics ?? []), ...one.run[0].metrics]);
              const run = { ...one.run[0], id: idOf(one.place), name: `p${one.place}`, metrics };
              now.set(one.place, run);
              feeder.tell({ runs: [scriptRow(run, one.place)], metrics: scriptSeries(run, one.place) });
            }
          }
        }
        await reference.load([...now.values()]);
        const options = { limit: 100, after: undefined, nowUs: ARBITRARY_NOW_US };
        const expected = await reference.search(query, options);
        const { ids, total } = await feeder.ask(query, { nowUs: ARBITRARY_NOW_US });
        expect(ids.map((id) => `p${Number(id.slice(1))}`)).toEqual(expected.names);
        expect(total).toBe(expected.total);
      }),
      { numRuns: cases },
    );
  });

  it.runIf(positions)("J3 are waited for by a search that needs them", async () => {
    feeder.tell({ runs: [feedRow(1)] });
    expect((await feeder.ask("")).total).toBe(1);
    feeder.announce(9);
    const early = feeder.runSearch.tally();
    // It was requested before the tally was sent to the index.
    await feeder.whenAsked();
    feeder.announce(12);
    const later = feeder.ask("order by id");
    feeder.tell({ runs: [feedRow(2)], position: 9 });
    expect((await early)[0]).toMatchObject({ runs: 2 });
    feeder.tell({ runs: [feedRow(3)], position: 12 });
    expect((await later).ids).toEqual([idOf(1), idOf(2), idOf(3)]);
  });
}
