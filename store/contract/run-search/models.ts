import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ReadMask } from "#core/types/scope.ts";
import type { ModelFeedRow } from "#core/ports/run-changes.ts";
import type { Query } from "#lang/query/ast.ts";
import {
  ARBITRARY_NOW_US,
  arbitraryModel,
  arbitraryQuery,
  arbitraryRuns,
} from "#lang/query/testing/arbitrary.ts";
import { ReferenceEngine } from "#lang/query/testing/reference.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import { feedRow, idOf, type OpenSearch, RunFeeder, scriptRow, scriptSeries } from "../run-feeder.ts";

const EVERYTHING: Query = { where: undefined, orderBy: [] };
const CREATED_US = feedRow(0).createdUs;

/** Created with its key. */
function modelRow(key: number, run: number, model: Partial<ModelFeedRow> = {}): ModelFeedRow {
  const createdUs = CREATED_US + key;
  return { key, run, name: "m.pt", step: undefined, sizeBytes: undefined, createdUs, ...model };
}

export function modelsContract(open: OpenSearch, cases: number): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  const tellModels = (rows: ModelFeedRow[], gone: number[] = []) => feeder.tell({ models: { gone, rows } });

  it("Q15 finds the models that the reference evaluator finds, in the same order and on the same pages", async () => {
    const reference = new ReferenceEngine();
    const limits = fc.integer({ min: 1, max: 5 });
    await fc.assert(
      fc.asyncProperty(arbitraryRuns(), arbitraryQuery(true), limits, async (runs, query, limit) => {
        await reference.load(runs);
        await feeder.load(runs);
        const all = { limit: 100, after: undefined, nowUs: ARBITRARY_NOW_US };
        const expected = await reference.searchModels(query, all);
        expect(await feeder.searchModels(query, all)).toEqual({ ...expected, next: undefined });
        const paged: string[] = [];
        let after: string | undefined;
        do {
          expect(paged.length).toBeLessThanOrEqual(expected.total);
          const page = await feeder.searchModels(query, { limit, after, nowUs: ARBITRARY_NOW_US });
          expect(page.total).toBe(expected.total);
          paged.push(...page.names);
          after = page.next;
        } while (after !== undefined);
        expect(paged).toEqual(expected.names);
      }),
      { numRuns: cases },
    );
  });

  it("M11 agrees with the reference evaluator, in any sequence of changes, also when each is applied twice", async () => {
    const place = fc.integer({ min: 0, max: 3 });
    const change = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ verb: fc.constant("put" as const), place, run: arbitraryRuns(1) }),
      },
      {
        weight: 6,
        arbitrary: fc.record({ verb: fc.constant("record" as const), place, model: arbitraryModel() }),
      },
      { weight: 2, arbitrary: fc.record({ verb: fc.constant("delete" as const), place }) },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant("lose-series" as const), place }) },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant("purge" as const), place }) },
    );
    const reference = new ReferenceEngine();
    const changes = fc.array(change, { maxLength: 40, size: "max" });
    await fc.assert(
      fc.asyncProperty(changes, arbitraryQuery(true), fc.boolean(), async (all, query, isTwice) => {
        await feeder.load([]);
        const now = new Map<number, ScriptRun>();
        const keys = new Map<string, number>();
        let nextKey = 0;
        const tell = (batch: Parameters<RunFeeder["tell"]>[0]) => {
          for (let times = isTwice ? 2 : 1; times > 0; times--) feeder.tell(batch);
        };
        for (const one of all) {
          const before = now.get(one.place);
          if (one.verb === "purge") {
            now.delete(one.place);
            tell({ purged: [one.place] });
          } else if (one.verb === "put" && one.run[0] !== undefined) {
            const metrics = new Map([...(before?.metrics ?? []), ...one.run[0].metrics]);
            const models = before?.models ?? [];
            const run = { ...one.run[0], id: idOf(one.place), name: `p${one.place}`, metrics, models };
            now.set(one.place, run);
            tell({ runs: [scriptRow(run, one.place)], metrics: scriptSeries(run, one.place) });
          } else if (one.verb === "lose-series" && before !== undefined) {
            const run = { ...before, metrics: new Map<string, number[]>() };
            now.set(one.place, run);
            tell({ purged: [one.place], runs: [scriptRow(run, one.place)] });
          } else if (one.verb === "delete" && before !== undefined) {
            const [first, ...models] = before.models;
            if (first === undefined) continue;
            now.set(one.place, { ...before, models });
            tell({ models: { gone: [keys.get(nameOf(one.place, first))!], rows: [] } });
          } else if (one.verb === "record") {
            // A store assigns another key to a replaced one, and sends models of unknown runs in vain.
            const name = nameOf(one.place, one.model);
            const gone = keys.get(name);
            const key = nextKey++;
            keys.set(name, key);
            const rows = [{ ...one.model, key, run: one.place }];
            tell({ models: { gone: gone === undefined ? [] : [gone], rows } });
            if (before === undefined) continue;
            const others = before.models.filter((other) => nameOf(one.place, other) !== name);
            now.set(one.place, { ...before, models: [...others, one.model] });
          }
        }
        await reference.load([...now.values()]);
        const options = { limit: 100, after: undefined, nowUs: ARBITRARY_NOW_US };
        for (const one of [EVERYTHING, query]) {
          const expected = await reference.searchModels(one, options);
          const found = await feeder.findModels(one, { nowUs: ARBITRARY_NOW_US });
          expect(found.map((text) => `p${text}`)).toEqual(expected.names);
        }
      }),
      { numRuns: cases },
    );
  });

  it("M11 keeps models through all changes of their runs, and drops them with a purge", async () => {
    feeder.tell({ runs: [feedRow(1), feedRow(2)] });
    tellModels([modelRow(5, 1), modelRow(6, 2), modelRow(7, 9)]);
    expect(await feeder.findModels("")).toEqual(["2:m.pt", "1:m.pt"]);
    feeder.tell({ runs: [feedRow(1, { namespace: "moved", name: "renamed" })] });
    expect(await feeder.findModels('namespace = "moved" and name = "renamed"')).toEqual(["1:m.pt"]);
    feeder.tell({ purged: [1], runs: [feedRow(1)] });
    expect(await feeder.findModels("")).toEqual(["2:m.pt", "1:m.pt"]);
    feeder.tell({ purged: [1], runs: [feedRow(3), { ...feedRow(9), id: idOf(9) }] });
    expect(await feeder.findModels("")).toEqual(["2:m.pt"]);
    feeder.tell({ purged: [2], runs: [{ ...feedRow(2), id: idOf(8) }] });
    expect(await feeder.askModels("")).toEqual({ models: [], total: 0, next: undefined });
    tellModels([modelRow(8, 3)]);
    feeder.tell({ reset: true, runs: [feedRow(3)] });
    expect(await feeder.findModels("")).toEqual([]);
  });

  it("M11 replaces all values of a model", async () => {
    feeder.tell({ runs: [feedRow(1)] });
    tellModels([modelRow(5, 1, { step: 3, sizeBytes: 10, name: "old.pt" })]);
    expect(await feeder.findModels("model.size = 10")).toEqual(["1:old.pt@3"]);
    tellModels([modelRow(5, 1)]);
    expect(await feeder.findModels("model.size is null and model.step is null")).toEqual(["1:m.pt"]);
    expect(await feeder.findModels('model.name = "old.pt"')).toEqual([]);
    tellModels([modelRow(6, 1, { step: 4 })], [5, 77]);
    expect(await feeder.findModels("")).toEqual(["1:m.pt@4"]);
  });

  it("M14 is only models of runs that the caller may read, outside the trash, under the namespace", async () => {
    feeder.tell({
      runs: [
        feedRow(1, { namespace: "a" }),
        feedRow(2, { namespace: "a/b" }),
        feedRow(3, { namespace: "c" }),
        feedRow(4, { namespace: "a", deletedUs: 1 }),
        feedRow(5, { namespace: "a" }),
      ],
    });
    tellModels([1, 2, 3, 4, 5].map((run) => modelRow(run, run)));
    const readable: ReadMask = {
      id: "m",
      namespaces: new Map([
        ["", false],
        ["a", true],
      ]),
      runs: new Map([
        [idOf(3), true],
        [idOf(5), false],
      ]),
    };
    expect(await feeder.askModels("", { readable })).toMatchObject({ total: 3 });
    expect(await feeder.findModels("", { readable })).toEqual(["3:m.pt", "2:m.pt", "1:m.pt"]);
    expect(await feeder.findModels("", { readable, under: "a/b" })).toEqual(["2:m.pt"]);
    expect(
      await feeder.findModels('not model.name = "x" or name is not null', { readable, under: "c" }),
    ).toEqual(["3:m.pt"]);
    expect(await feeder.findModels("", {})).toEqual(["5:m.pt", "3:m.pt", "2:m.pt", "1:m.pt"]);
    feeder.tell({ runs: [feedRow(4, { namespace: "a" }), feedRow(1, { namespace: "a", deletedUs: 1 })] });
    expect(await feeder.findModels("", { under: "a" })).toEqual(["5:m.pt", "4:m.pt", "2:m.pt"]);
  });

  it("M14 neither finds nor counts hidden models of a run, at any step, with any query", async () => {
    feeder.tell({ runs: [feedRow(1), feedRow(2)] });
    const models = [1, 2].flatMap((run) => [
      modelRow(10 * run, run, { name: "shut.pt" }),
      modelRow(10 * run + 1, run, { name: "shut.pt", step: 5 }),
      modelRow(10 * run + 2, run, { name: "open.pt" }),
    ]);
    tellModels(models);
    const hidden = new Map([
      [idOf(1), ["shut.pt", "none.pt"]],
      [idOf(7), ["open.pt"]],
    ]);
    const all = await feeder.askModels("order by model.created", { hidden });
    expect(all).toMatchObject({
      total: 4,
      models: [{ name: "open.pt" }, ...Array.from({ length: 3 }, () => ({ runId: idOf(2) }))],
    });
    for (const query of [
      'model.name = "shut.pt"',
      'not model.name = "open.pt"',
      "model.step = 5 or name is null",
    ]) {
      const found = await feeder.askModels(query, { hidden });
      expect(found.models.map(({ runId }) => runId)).not.toContain(idOf(1));
      expect(found.total).toBe(found.models.length);
    }
    expect((await feeder.askModels("")).total).toBe(6);
  });

  it("Q16 refuses the token of another order, of a search of runs, and any invalid token", async () => {
    feeder.tell({ runs: [feedRow(1), feedRow(2)] });
    tellModels([modelRow(1, 1), modelRow(2, 1, { step: 2 })]);
    const { next } = await feeder.askModels("order by model.step", { limit: 1 });
    const ofRuns = (await feeder.ask("", { limit: 1 })).next;
    for (const [query, after] of [
      ["order by model.step desc", next],
      ["", next],
      ["", ofRuns],
      ["", "nonsense"],
      ["order by model.step", Buffer.from("[1]").toString("base64url")],
    ] as const) {
      const refused = { code: "invalid", reason: "PAGE_TOKEN" };
      await expect(feeder.askModels(query, { after })).rejects.toMatchObject(refused);
    }
    await expect(feeder.ask("order by name", { after: next })).rejects.toMatchObject({
      reason: "PAGE_TOKEN",
    });
  });

  it("Q16 neither repeats nor misses a model while others are added and deleted", async () => {
    const size = fc.constantFrom(0, 1, 2, undefined);
    const orders = fc.constantFrom(
      "",
      "order by model.size",
      "order by params.x desc, model.size desc",
      "order by name",
    );
    const changes = fc.record({ inserts: fc.array(size, { maxLength: 3 }), deletes: fc.array(fc.nat(30)) });
    const sizes = fc.array(size, { minLength: 1, maxLength: 25 });
    const steps = fc.array(changes, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        sizes,
        steps,
        orders,
        fc.integer({ min: 1, max: 4 }),
        async (first, all, order, limit) => {
          const runs = [0, 1, 2].map((key) => feedRow(key, { params: `{"x":${key % 2}}` }));
          let nextKey = 0;
          const model = (sizeBytes: number | undefined) => {
            const key = nextKey++;
            return modelRow(key, key % 3, { sizeBytes, step: key, createdUs: CREATED_US + (key % 4) });
          };
          const rows = first.map(model);
          feeder.tell({ reset: true, runs, models: { gone: [], rows } });
          const staying = new Set(rows.map(({ key }) => key));
          const seen: number[] = [];
          let after: string | undefined;
          for (const { inserts, deletes } of [
            ...all,
            ...Array.from({ length: 30 }, () => ({ inserts: [], deletes: [] })),
          ]) {
            const page = await feeder.askModels(order, { limit, after });
            seen.push(...page.models.map(({ step }) => step!));
            after = page.next;
            if (after === undefined) break;
            for (const key of deletes) staying.delete(key);
            tellModels(inserts.map(model), deletes);
          }
          expect(new Set(seen).size).toBe(seen.length);
          if (after === undefined) for (const key of staying) expect(seen).toContain(key);
        },
      ),
      { numRuns: cases },
    );
  });
}

function nameOf(run: number, { name, step }: { name: string; step: number | undefined }): string {
  return JSON.stringify([run, name, step]);
}
