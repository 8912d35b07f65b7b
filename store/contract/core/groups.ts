import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { GroupRequest } from "#core/series/groups.ts";
import { asked, buildCore, CALLER, groupsOf, NO_CREDENTIAL } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import {
  appendOne,
  envelope,
  newRun,
  NOW_US,
  numbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const byId = (id: string) => ({ by: "id", id }) as const;

export function coreGroupsContract(open: OpenStores): void {
  const bench = useStores(open);
  const build = async () => {
    const core = await buildCore(bench.under);
    /** A run whose loss is one number. */
    const make = async (value: number, run: Parameters<typeof asked>[0] = {}) => {
      const { id } = (await core.runs.create(CALLER, asked({ namespace: "lab", ...run }))).run;
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [value])] }));
      return id;
    };
    return { ...core, make };
  };
  const params = (entries: Record<string, string>) => ({ params: new Map(Object.entries(entries)) });

  it("G3 groups the runs of a query by columns, in the order of their values", async () => {
    const { groups, make } = await build();
    const a = await make(1, { ...params({ optim: '{"lr":0.01}' }), tags: new Map([["team", "asr"]]) });
    const b = await make(2, params({ optim: '{"lr": 1e-1}' }));
    const c = await make(3, params({ "optim.lr": "0.01" }));
    const d = await make(4, params({ optim: '{"lr":10}' }));
    const e = await make(5, params({ optim: "null" }));
    const f = await make(6, { ...params({ optim: '{"lr":"auto"}' }), status: "finished" });
    await make(7, { namespace: "other", ...params({ optim: '{"lr":10}' }) });
    const read = async (request: Partial<GroupRequest>) =>
      (await groups.read(CALLER, groupsOf({ namespace: "lab", ...request }))).groups.map((group) => [
        group.name,
        group.values,
        group.runIds.toSorted(),
        [...group.mean],
      ]);
    expect(await read({ groupBy: ["params.optim.lr"] })).toEqual([
      ["params.optim.lr = 0.01", ["0.01"], [a, c].toSorted(), [2]],
      ["params.optim.lr = 1e-1", ["1e-1"], [b], [2]],
      ["params.optim.lr = 10", ["10"], [d], [4]],
      ['params.optim.lr = "auto"', ['"auto"'], [f], [6]],
      ["params.optim.lr = null", ["null"], [e], [5]],
    ]);
    expect(await read({ query: "params.optim.lr < 1", groupBy: ["tags.team", "status"] })).toEqual([
      ['tags.team = "asr", status = "running"', ['"asr"', '"running"'], [a], [1]],
      ['tags.team = null, status = "running"', ["null", '"running"'], [b, c].toSorted(), [2.5]],
    ]);
    const namesOf = async (request: Partial<GroupRequest>) => (await read(request)).map(([name]) => name);
    expect(await namesOf({ groupBy: ["namespace"] })).toEqual(['namespace = "lab"']);
    expect(await read({})).toEqual([["", [], [a, b, c, d, e, f].toSorted(), [3.5]]]);
    expect(await read({ query: 'status = "killed"', groupBy: ["status"] })).toEqual([]);
    expect(await namesOf({ groupBy: ["params.optim"] })).toEqual([
      'params.optim = {"lr":"auto"}',
      'params.optim = {"lr":0.01}',
      'params.optim = {"lr":10}',
      'params.optim = {"lr":1e-1}',
      "params.optim = null",
    ]);
  });

  it("G7 requires a start for every run of every group, and times", async () => {
    const { groups, make } = await build();
    const [a, b] = [await make(1), await make(2)];
    const refs = [a, b].map(byId);
    const whole = { name: "whole", runs: refs, startsUs: [1, 2] };
    await groups.read(CALLER, groupsOf({ groups: [whole], axis: "time" }));
    const wrong: Partial<GroupRequest>[] = [
      { groups: [whole], axis: "step" },
      { groups: [{ ...whole, startsUs: [1] }], axis: "time" },
      { groups: [whole, { name: "bare", runs: refs }], axis: "time" },
    ];
    for (const request of wrong) {
      await expect(groups.read(CALLER, groupsOf(request))).rejects.toEqual(refused("invalid"));
    }
  });

  it("G3 uses groups as given, a run once in each", async () => {
    const { groups, make } = await build();
    const [a, b] = [await make(1, { aliases: ["job"] }), await make(3)];
    const alias = { by: "alias", alias: "job", namespace: "" } as const;
    const given = [
      { name: "both", runs: [byId(b), alias, byId(a)] },
      { name: "empty", runs: [] },
      { name: "one", runs: [byId(a)] },
    ];
    const read = await groups.read(CALLER, groupsOf({ groups: given }));
    expect(read.groups).toMatchObject([
      { name: "both", values: [], runIds: [b, a], mean: Float64Array.of(2), count: Float64Array.of(2) },
      { name: "empty", runIds: [], mean: new Float64Array() },
      { name: "one", runIds: [a], mean: Float64Array.of(1) },
    ]);
    for (const also of [{ query: "x" }, { namespace: "lab" }, { groupBy: ["status"] }]) {
      const mixed = groups.read(CALLER, groupsOf({ groups: given, ...also }));
      await expect(mixed).rejects.toEqual(refused("invalid"));
    }
  });

  it("G6 leaves out runs that the caller may not read, and does not find them by name", async () => {
    const { groups, make } = await build();
    const eve = callerWithout({ namespaces: ["secret"] }, "read");
    const [seen, secret] = [await make(1), await make(9, { namespace: "secret" })];
    const { groups: found } = await groups.read(eve, groupsOf({ groupBy: ["namespace"] }));
    expect(found).toMatchObject([{ values: ['"lab"'], runIds: [seen], pointCount: 1 }]);
    const named = (id: string) =>
      groups.read(eve, groupsOf({ groups: [{ name: "", runs: [byId(seen), byId(id)] }] }));
    await expect(named(secret)).rejects.toEqual(refused("not-found"));
    await expect(named("0".repeat(32))).rejects.toEqual(refused("not-found"));
    await expect(groups.read(NO_CREDENTIAL, groupsOf())).rejects.toEqual(refused("unauthenticated"));
    await expect(groups.read(NO_CREDENTIAL, groupsOf({ groups: [{ name: "", runs: [] }] }))).rejects.toEqual(
      refused("unauthenticated"),
    );
  });

  it("G5 refuses requests over its limits, and invalid ones", async () => {
    const { groups, make } = await build();
    const id = await make(1);
    const read = (request: Partial<GroupRequest>) => groups.read(CALLER, groupsOf(request));
    for (const request of [
      { buckets: -1 },
      { buckets: limits.bucketsMax + 1 },
      { buckets: 1.5 },
      { quantiles: [1.1] },
      { quantiles: [-0.1] },
      { quantiles: [NaN] },
      { from: 2, to: 1 },
      { key: "" },
      { query: "((" },
      { namespace: "a//b" },
      { groupBy: ["name"] },
      { groupBy: ["metrics.loss.min"] },
      { groupBy: ["status or"] },
      { groupBy: ["params"] },
    ]) {
      await expect(read(request), JSON.stringify(request)).rejects.toEqual(refused("invalid"));
    }
    const group = { name: "", runs: [byId(id)] };
    const many = (count: number) => Array.from({ length: count }, () => byId(id));
    for (const [request, limit] of [
      [{ groups: Array.from({ length: limits.groupsMax + 1 }, () => group) }, limits.groupsMax],
      [{ groups: [{ name: "", runs: many(limits.groupRunsMax + 1) }] }, limits.groupRunsMax],
      [{ groupBy: Array(limits.groupColumnsMax + 1).fill("status") }, limits.groupColumnsMax],
      [{ quantiles: Array(limits.groupQuantilesMax + 1).fill(0.5) }, limits.groupQuantilesMax],
      [{ groups: [{ name: "x".repeat(limits.nameBytesMax + 1), runs: [] }] }, limits.nameBytesMax],
    ] as const) {
      const over = refused("exhausted", "LIMIT_EXCEEDED", { facts: { limit: String(limit) } });
      await expect(read(request)).rejects.toEqual(over);
    }
    const full = [{ name: "", runs: many(limits.groupRunsMax) }];
    expect((await read({ groups: full })).groups).toMatchObject([{ runIds: [id] }]);
  });

  it("G5 refuses more groups, and more runs, than the limit when they come from a query", async () => {
    const { groups } = await build();
    const create = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) =>
          bench.runs.createRun(
            newRun({ createdUs: NOW_US + i, params: new Map([["seed", String(from + i)]]) }),
            { getOrCreate: false },
          ),
        ),
      );
    await create(0, limits.groupsMax);
    const bySeed = () => groups.read(CALLER, groupsOf({ groupBy: ["params.seed"] }));
    expect((await bySeed()).groups.map(({ values }) => values[0])).toEqual(
      Array.from({ length: limits.groupsMax }, (_, i) => String(i)),
    );
    await create(limits.groupsMax, limits.groupsMax + 1);
    const over = (limit: number) =>
      refused("exhausted", "LIMIT_EXCEEDED", { facts: { limit: String(limit) } });
    await expect(bySeed()).rejects.toEqual(over(limits.groupsMax));
    await create(limits.groupsMax + 1, limits.groupRunsMax);
    expect((await groups.read(CALLER, groupsOf())).groups).toMatchObject([
      { runIds: { length: limits.groupRunsMax }, pointCount: 0 },
    ]);
    await create(limits.groupRunsMax, limits.groupRunsMax + 1);
    await expect(groups.read(CALLER, groupsOf())).rejects.toEqual(over(limits.groupRunsMax));
  });
}
