import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import { ReferenceEngine } from "#lang/query/testing/reference.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import { feedRow, idOf, type OpenSearch, RunFeeder, scriptRow, scriptSeries } from "../run-feeder.ts";

/** Some of them are paths of arbitrary runs. */
const MOVED_TO = ["a", "a/b", "ab", "moved"];

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

  it("J8 give runs the new path of their namespace, also where it was another one's", async () => {
    const at = (key: number, namespace: string, namespaceId: number) =>
      feedRow(key, { namespace, namespaceId, params: '{"x":1}' });
    feeder.tell({ runs: [at(1, "a", 1), at(2, "a/b", 2), at(3, "c", 3), at(4, "gone", 4)] });
    const found = async (path: string) => [
      await feeder.find(`namespace = "${path}" order by id`),
      await feeder.find("order by id", { under: path }),
      (await feeder.runSearch.tally()).find(({ namespace }) => namespace === path)?.runs,
    ];
    // One is renamed, two change places, and one that is gone left its path to another one.
    const moved = [
      [1, "c", false],
      [2, "c/b", false],
      [3, "gone", false],
    ] as const;
    for (let times = 0; times < 2; times++) {
      feeder.tell({ namespaces: moved, purged: [4] });
      expect(await found("c")).toEqual([[1], [1, 2], 1]);
      expect(await found("c/b")).toEqual([[2], [2], 1]);
      expect(await found("gone")).toEqual([[3], [3], 1]);
      expect(await found("a")).toEqual([[], [], undefined]);
    }
    const readable = {
      id: "m",
      namespaces: new Map([
        ["", false],
        ["c", true],
      ]),
      runs: new Map(),
    };
    expect(await feeder.find("order by id", { readable })).toEqual([1, 2]);
    feeder.tell({
      namespaces: [
        [1, "d", false],
        [2, "d/b", false],
        [3, "c", false],
      ],
      runs: [at(5, "d", 1), at(6, "a", 7)],
    });
    expect(await feeder.find("order by id", { readable })).toEqual([3]);
    expect(await feeder.find("params.x = 1 order by namespace, id")).toEqual([6, 3, 1, 5, 2]);
  });

  it("N16 have the runs of a namespace in the trash in the trash, and no others", async () => {
    const at = (key: number, namespace: string, namespaceId: number, deletedUs?: number) =>
      feedRow(key, { namespace, namespaceId, deletedUs });
    const namespaces = (trashed: readonly number[]) =>
      ["a", "a/b", "c"].map((path, i) => [i + 1, path, trashed.includes(i + 1)] as const);
    const models = { gone: [], rows: [{ key: 1, run: 2, name: "m", step: 1, sizeBytes: 1, createdUs: 1 }] };
    feeder.tell({ runs: [at(1, "a", 1), at(2, "a/b", 2), at(3, "c", 3), at(4, "c", 3, 1)], models });
    const found = async () => [
      await feeder.find("order by id"),
      await feeder.find("order by id", { trashed: true }),
      (await feeder.runSearch.tally()).map(({ namespace, runs }) => `${namespace} ${runs}`),
      await feeder.findModels("order by model.name"),
    ];
    const before = [[1, 2, 3], [4], ["a 1", "a/b 1", "c 1"], ["2:m@1"]];
    expect(await found()).toEqual(before);
    feeder.tell({ namespaces: namespaces([1, 2]) });
    expect(await found()).toEqual([[3], [1, 2, 4], ["c 1"], []]);
    feeder.tell({ runs: [at(5, "a", 1), { ...at(3, "c", 3), name: "touched" }] });
    expect(await found()).toEqual([[3], [1, 2, 4, 5], ["c 1"], []]);
    feeder.tell({ namespaces: namespaces([3]), purged: [5] });
    expect(await found()).toEqual([[1, 2], [3, 4], ["a 1", "a/b 1"], ["2:m@1"]]);
    feeder.tell({ namespaces: namespaces([]) });
    expect(await found()).toEqual(before);
    feeder.tell({ namespaces: namespaces([1, 2, 3]) });
    feeder.tell({ reset: true, runs: [at(1, "a", 1)] });
    expect((await found()).slice(0, 2)).toEqual([[1], []]);
  });

  it("agree with the reference evaluator, in any sequence", async () => {
    const place = fc.integer({ min: 0, max: 7 });
    const change = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ verb: fc.constant("put" as const), place, run: arbitraryRuns(1) }),
      },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant("purge" as const), place }) },
      {
        weight: 1,
        arbitrary: fc.record({ verb: fc.constant("move" as const), place, to: fc.constantFrom(...MOVED_TO) }),
      },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant("trash" as const), place }) },
    );
    const batches = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 });
    const reference = new ReferenceEngine();
    let nextId = 1;
    await fc.assert(
      fc.asyncProperty(batches, arbitraryQuery(), async (all, query) => {
        await feeder.load([]);
        const now = new Map<number, ScriptRun>();
        const namespaces = new Map<string, number>();
        const trashed = new Set<number>();
        const tellNamespaces = () => {
          const entries = Array.from(namespaces, ([path, id]) => [id, path, trashed.has(id)] as const);
          feeder.tell({ namespaces: entries });
        };
        for (const changes of all) {
          for (const one of changes) {
            if (one.verb === "move") {
              const from = now.get(one.place)?.namespace;
              const { to } = one;
              if (from === undefined || to === from) continue;
              // What is there goes to the old path.
              const ids = [namespaces.get(from)!, namespaces.get(to)];
              namespaces.delete(from);
              if (ids[1] !== undefined) namespaces.set(from, ids[1]);
              namespaces.set(to, ids[0]!);
              for (const [key, run] of now) {
                const path = run.namespace === from ? to : run.namespace === to ? from : run.namespace;
                now.set(key, { ...run, namespace: path });
              }
              tellNamespaces();
            } else if (one.verb === "trash") {
              const id = namespaces.get(now.get(one.place)?.namespace ?? "none");
              if (id === undefined) continue;
              if (!trashed.delete(id)) trashed.add(id);
              tellNamespaces();
            } else if (one.verb === "purge") {
              now.delete(one.place);
              feeder.tell({ purged: [one.place] });
            } else if (one.run[0] !== undefined) {
              // A run keeps its metrics when it is sent again, so the model keeps them too.
              const metrics = new Map([...(now.get(one.place)?.metrics ?? []), ...one.run[0].metrics]);
              const run = { ...one.run[0], id: idOf(one.place), name: `p${one.place}`, metrics };
              now.set(one.place, run);
              const namespaceId = namespaces.get(run.namespace) ?? nextId++;
              namespaces.set(run.namespace, namespaceId);
              const row = { ...scriptRow(run, one.place), namespaceId };
              feeder.tell({ runs: [row], metrics: scriptSeries(run, one.place) });
            }
          }
        }
        const live = [...now.values()].filter((run) => !trashed.has(namespaces.get(run.namespace)!));
        await reference.load(live);
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
