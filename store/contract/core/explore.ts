import fc from "fast-check";
import { expect, it } from "vitest";
import { SideBySide } from "#core/compare/side-by-side.ts";
import { seriesName } from "#lang/metric-key.ts";
import type { CompareRequest } from "#core/compare/comparisons.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { asked, buildCore, CALLER } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { appendOne, envelope, numbers, useStores, type OpenStores } from "../stores.ts";

const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => new Error("it was answered"),
    (thrown: unknown) => CairnError.from(thrown),
  );
const byId = (id: string) => ({ by: "id", id }) as const;
const ALL = { query: "", namespace: "" };

export function coreExploreContract(open: OpenStores): void {
  const bench = useStores(open);
  const build = async () => {
    const core = await buildCore(bench.under);
    /** A run with params, whose loss takes these values. */
    const make = async (
      params: Record<string, string>,
      losses: readonly number[],
      run: Parameters<typeof asked>[0] = {},
    ) => {
      const request = asked({ namespace: "lab/asr", params: new Map(Object.entries(params)), ...run });
      const { id } = (await core.runs.create(CALLER, request)).run;
      const series = losses.length === 0 ? [] : [numbers("loss", losses)];
      await appendOne(bench.journal, envelope(id, 1, { series }));
      return id;
    };
    const compare = (ids: readonly string[], request: Partial<CompareRequest> = {}) =>
      core.comparisons.compare(CALLER, {
        runs: ids.map(byId),
        stats: [],
        onlyDifferent: false,
        withPatches: false,
        ...request,
      });
    const setObjective = (path: string, metric: string) =>
      core.namespaces.update(CALLER, { path, objective: { metric, direction: "minimize" } });
    return { ...core, make, compare, setObjective };
  };

  it("M5 an objective applies below its namespace until another one does, and only for callers that may read it", async () => {
    const { namespaces, objectives, make, setObjective } = await build();
    await make({}, []);
    await setObjective("lab", "loss");
    const held = await objectives.list(CALLER, ["lab", "lab/asr", "lab/asr/new", "elsewhere", ""]);
    expect([...held].map(([path, { metric, namespace }]) => [path, metric, namespace])).toEqual([
      ["lab", "loss", "lab"],
      ["lab/asr", "loss", "lab"],
      ["lab/asr/new", "loss", "lab"],
    ]);
    await setObjective("lab/asr", "wer");
    expect(await namespaces.get(CALLER, "lab/asr")).toMatchObject({
      held: { metric: "wer", namespace: "lab/asr" },
    });
    expect(await objectives.of(CALLER, "lab/asr/new")).toMatchObject({ metric: "wer" });
    const eve = callerWithout({ namespaces: ["lab/asr"] });
    expect(await objectives.of(eve, "lab/asr")).toMatchObject({ metric: "loss", namespace: "lab" });
    expect(await objectives.of(callerWithout({ namespaces: ["lab"] }), "lab/asr")).toBeUndefined();
  });

  it("M2 a namespace is listed with the best of its runs on request", async () => {
    const { namespaces, make, setObjective, runs } = await build();
    const good = await make({}, [3, 1], { name: "good" });
    const best = await make({}, [0.5], { name: "best", namespace: "lab/mt" });
    await make({}, [Number.NaN], { name: "broken", namespace: "lab/mt" });
    await setObjective("lab", "loss");
    const list = async (caller = CALLER) => {
      const page = await namespaces.list(caller, { under: "", pageSize: 0, pageToken: "", withBest: true });
      return page.namespaces.map((namespace) => [
        namespace.path,
        namespace.best?.runName,
        namespace.best?.value,
      ]);
    };
    expect(await list()).toEqual([
      ["lab", "best", 0.5],
      ["lab/asr", "good", 1],
      ["lab/mt", "best", 0.5],
    ]);
    expect(await list(callerWithout({ runs: [best] }))).toEqual([
      ["lab", "good", 1],
      ["lab/asr", "good", 1],
      ["lab/mt", undefined, undefined],
    ]);
    await runs.delete(CALLER, byId(good));
    expect((await list())[1]).toEqual(["lab/asr", undefined, undefined]);
    expect(await namespaces.get(CALLER, "lab")).toMatchObject({ best: undefined, held: { metric: "loss" } });
  });

  it("M1 fields of runs have their values and the descriptions of metrics, in pages", async () => {
    const { explore, metricKeys, make, setObjective } = await build();
    await make({ lr: "0.1", seed: "1", optim: '{"name":"adam"}' }, [1], { tags: new Map([["team", "asr"]]) });
    await make({ lr: "0.2", seed: "2", optim: '{"name":"adam"}' }, [2]);
    await make({ lr: "0.2", seed: "3" }, [], { namespace: "other" });
    await setObjective("lab", "loss");
    const description = {
      namespace: "lab",
      key: "loss",
      unit: "nats",
      direction: "minimize",
      description: "",
      picture: undefined,
    } as const;
    await metricKeys.describe(CALLER, description);
    const request = {
      runs: { query: "", namespace: "lab" },
      kinds: [],
      find: "",
      valuesMax: 0,
      pageSize: 0,
      pageToken: "",
    };
    const all = await explore.listFields(CALLER, request);
    expect(all.fields.map(({ kind, key, runs, varies }) => [kind, key, runs, varies])).toEqual([
      ["param", "lr", 2, true],
      ["param", "seed", 2, true],
      ["param", "optim.name", 2, false],
      ["tag", "team", 1, true],
      ["metric", "loss", 2, false],
    ]);
    expect(all).toMatchObject({ runs: 2, nextPageToken: "", objective: { metric: "loss" } });
    expect(all.fields[2]!.values).toEqual([["adam", 2]]);
    expect(all.fields[4]!.description).toMatchObject({ unit: "nats", direction: "minimize" });
    const first = await explore.listFields(CALLER, { ...request, pageSize: 2, valuesMax: -1 });
    const rest = await explore.listFields(CALLER, {
      ...request,
      pageSize: 5,
      pageToken: first.nextPageToken,
    });
    expect([...first.fields, ...rest.fields].map(({ key }) => key)).toEqual(all.fields.map(({ key }) => key));
    expect(first.fields[0]!.values).toEqual([]);
    const found = await explore.listFields(CALLER, { ...request, find: "NAME", kinds: ["param"] });
    expect(found.fields.map(({ key }) => key)).toEqual(["optim.name"]);
    for (const bad of [
      { pageSize: -1 },
      { valuesMax: 51 },
      { pageToken: "x" },
      { runs: { ...ALL, query: "lr <" } },
    ]) {
      expect(await errorOf(explore.listFields(CALLER, { ...request, ...bad }))).toMatchObject({
        code: "invalid",
      });
    }
  });

  it("M16 the direction of a metric is that of the objective, else of its description, in every answer", async () => {
    const { explore, metricKeys, namespaces, make, compare } = await build();
    const objective = { metric: "loss", direction: "maximize" } as const;
    const describe = (key: string, unit = "") => {
      const text = { unit, description: "", picture: undefined };
      return metricKeys.describe(CALLER, { namespace: "lab/asr", key, direction: "minimize", ...text });
    };
    const [low, high] = [await make({}, [3, 1]), await make({}, [2, 4])];
    for (const id of [low, high])
      await appendOne(bench.journal, envelope(id, 2, { series: [numbers("other", [1]), numbers("z", [1])] }));
    for (const key of ["a", "other"]) await describe(key);
    await namespaces.update(CALLER, { path: "lab", objective });
    const list = async (
      pageSize: number,
      pageToken = "",
    ): Promise<(readonly [string, string | undefined])[]> => {
      const page = await metricKeys.list(CALLER, { namespace: "lab/asr", pageSize, pageToken });
      const keys = page.keys.map(({ key, direction }) => [key, direction] as const);
      expect(keys.length).toBeLessThanOrEqual(pageSize || Infinity);
      return page.nextPageToken === "" ? keys : [...keys, ...(await list(pageSize, page.nextPageToken))];
    };
    for (const about of ["without a description", "with one"]) {
      if (about === "with one") await describe("loss", "nats");
      const keys = [
        ["a", "minimize"],
        ["loss", "maximize"],
        ["other", "minimize"],
      ];
      for (const pageSize of [0, 1, 2, 3]) expect(await list(pageSize), about).toEqual(keys);
      const runs = { query: "", namespace: "lab/asr" };
      const asking = { kinds: ["metric"] as const, find: "", valuesMax: 0, pageSize: 0, pageToken: "" };
      const { fields } = await explore.listFields(CALLER, { runs, ...asking });
      expect(fields.map(({ key, description }) => [key, description?.direction])).toEqual([
        ["loss", "maximize"],
        ["other", "minimize"],
        ["z", undefined],
      ]);
      const { metrics } = await compare([low, high]);
      expect(metrics.map(({ key, direction, stat }) => [key, direction, stat])).toEqual([
        ["loss", "maximize", "max"],
        ["other", "minimize", "min"],
        ["z", undefined, "last"],
      ]);
      expect(metrics[0]!.values[1]).toMatchObject({ value: 4, step: 1, best: true });
      const { best } = await namespaces.get(CALLER, "lab/asr", { withBest: true });
      expect(best).toMatchObject({ runId: high, value: 4, step: 1 });
    }
    expect(await metricKeys.list(CALLER, { namespace: "lab/asr", pageSize: 0, pageToken: "" })).toMatchObject(
      {
        keys: [{}, { unit: "nats", namespace: "lab/asr" }, {}],
      },
    );
  });

  it("M3, M4: fields must be numbers, and an objective must exist or be named", async () => {
    const { explore, make, setObjective } = await build();
    for (let i = 0; i < 8; i++) await make({ lr: String(i), size: String(9 - i) }, [i * 2]);
    const importance = (objective: string) =>
      explore.importance(CALLER, { runs: { query: "", namespace: "lab" }, objective });
    expect(await errorOf(importance(""))).toMatchObject({ code: "precondition", reason: "NO_OBJECTIVE" });
    for (const text of ["name", "tags.team", "metrics.loss extra", ""].slice(0, 3)) {
      expect(await errorOf(importance(text))).toMatchObject({ code: "invalid" });
    }
    await setObjective("lab", "loss");
    const found = await importance("");
    expect(found).toMatchObject({ objective: "metrics.loss.min", runs: 8 });
    expect(found.params.map(({ key, strength }) => [key, Math.round(strength)])).toEqual([
      ["lr", 1],
      ["size", 1],
    ]);
    const goal = (field: string, direction: "minimize" | "maximize" = "minimize") => ({ field, direction });
    const frontier = await explore.frontier(CALLER, {
      runs: ALL,
      goals: [goal("metrics.loss.min"), goal("params.size")],
    });
    expect(frontier).toMatchObject({ total: 8, counted: 8 });
    expect(frontier.runs[0]!.values).toEqual([0, 9]);
    for (const goals of [
      [goal("duration")],
      Array.from({ length: 6 }, () => goal("duration")),
      [goal("name"), goal("duration")],
    ]) {
      expect(await errorOf(explore.frontier(CALLER, { runs: ALL, goals }))).toMatchObject({
        code: "invalid",
      });
    }
  });

  it("M6, M7, M8: runs are compared by the meaning of values, part by part and metric by metric", async () => {
    const { make, compare, setObjective } = await build();
    const a = await make({ lr: "1e-3", n: "9007199254740993", same: '"x"', list: "[1,2]" }, [3, 1]);
    const b = await make({ lr: "0.001", n: "9007199254740992", same: '"x"', list: "[1,3]" }, [5, 2]);
    await setObjective("lab", "loss");
    const { parts, metrics, objective } = await compare([a, b], { stats: ["best", "last"] });
    const params = parts.find(({ part }) => part === "params")!;
    expect(params.rows.map(({ key, meaning }) => [key, meaning[1]])).toEqual([
      ["list.0", 0],
      ["list.1", 1],
      ["lr", 0],
      ["n", 1],
      ["same", 0],
    ]);
    expect(params.rows[2]).toMatchObject({ texts: ["1e-3", "0.001"], text: [1, 2] });
    expect(metrics.map(({ key, stat, values }) => [key, stat, values.map((value) => value?.value)])).toEqual([
      ["loss", "min", [1, 2]],
      ["loss", "last", [1, 2]],
    ]);
    expect(metrics[0]).toMatchObject({ isObjective: true, differs: true, direction: "minimize" });
    expect(metrics[0]!.values).toMatchObject([
      { best: true, delta: undefined },
      { best: false, delta: { difference: 1, share: 1, verdict: "worse" } },
    ]);
    expect(objective).toMatchObject({ namespace: "lab" });
    const few = await compare([a, b], { onlyDifferent: true });
    expect(few.parts.find(({ part }) => part === "params")).toMatchObject({
      equalRows: 3,
      rows: [{ key: "list.1" }, { key: "n" }],
    });
  });

  it("M8 a metric behind many others is compared in all runs, and the answer says when it has not all of them", async () => {
    const { make, compare } = await build();
    const [few, many] = [await make({}, []), await make({}, [])];
    const others = Array.from({ length: 10_500 }, (_, i) => numbers(`many/${i}`, [i]));
    await appendOne(bench.journal, envelope(few, 2, { series: [numbers("z", [1])] }));
    await appendOne(bench.journal, envelope(many, 2, { series: [...others, numbers("z", [1])] }));
    const different = await compare([few, many], { onlyDifferent: true });
    expect(different.metrics.map(({ key }) => key)).not.toContain("z");
    expect(different).toMatchObject({ equalMetrics: 1, metricsTruncated: true });
    expect(different.metrics).toHaveLength(limits.comparedMetricsMax);
    const own = await compare([many, many], { onlyDifferent: true });
    expect(own).toMatchObject({ metrics: [], equalMetrics: 10_501, metricsTruncated: false });
  });

  it("M8 the objective is compared also where not all series are", async () => {
    const { make, setObjective, comparisons } = await build();
    const ids = [await make({}, [3, 1]), await make({}, [4, 2])];
    for (const id of ids) await appendOne(bench.journal, envelope(id, 2, { series: [numbers("a", [1])] }));
    await setObjective("lab", "loss");
    const request = { runs: ids.map(byId), stats: [], onlyDifferent: false, withPatches: false };
    const { metrics, metricsTruncated } = await comparisons.compare(CALLER, request, undefined, {
      seriesMax: 1,
      pageSize: 1,
    });
    expect(metrics.map(({ key, values }) => [key, values.map((value) => value?.value)])).toEqual([
      ["loss", [1, 2]],
      ["a", [1, 1]],
    ]);
    expect(metricsTruncated).toBe(true);
  });

  it("M8 parts of series end at the same place in all runs, however few are read at once", async () => {
    const place = fc.record({
      run: fc.nat(2),
      key: fc.constantFrom("a", "b", "b/c", "\uFFFD", "🐈"),
      rank: fc.constantFrom("", "1", "10", "2"),
    });
    const bounds = fc.record({
      pageSize: fc.integer({ min: 1, max: 4 }),
      seriesMax: fc.integer({ min: 1, max: 40 }),
    });
    const { make } = await build();
    await fc.assert(
      fc.asyncProperty(fc.array(place, { maxLength: 30 }), bounds, async (places, bound) => {
        const ids = [await make({}, []), await make({}, []), await make({}, [])];
        const runsOf = new Map<string, Set<string>>();
        for (const { run, key, rank } of places) {
          const id = ids[run]!;
          const labels = rank === "" ? [] : [["rank", rank] as const];
          const name = seriesName(key, labels);
          runsOf.set(name, (runsOf.get(name) ?? new Set()).add(id));
          await appendOne(bench.journal, envelope(id, 0, { series: [numbers(key, [1], 0, labels)] }));
        }
        const series = new SideBySide(bench.points, ids, [], bound);
        const seen = new Set<string>();
        for await (const part of series.parts(undefined)) {
          const found = new Map<string, Set<string>>();
          for (const [run, list] of part.entries()) {
            for (const { key, labels } of list) {
              const name = seriesName(key, labels);
              expect(seen.has(name)).toBe(false);
              found.set(name, (found.get(name) ?? new Set()).add(ids[run]!));
            }
          }
          for (const [name, there] of found) {
            expect(there).toEqual(runsOf.get(name));
            seen.add(name);
          }
        }
        if (!series.isCut) expect(seen).toEqual(new Set(runsOf.keys()));
        else expect(seen.size).toBeLessThan(runsOf.size);
      }),
      { numRuns: 50 },
    );
  });

  it("M9 missing and hidden runs are named by their place, and the others are compared", async () => {
    const { comparisons, make } = await build();
    const [a, b] = [await make({ x: "1" }, [1]), await make({ x: "2" }, [2])];
    const request = {
      runs: [a, "0".repeat(32), b, a].map(byId),
      stats: [],
      onlyDifferent: false,
      withPatches: true,
    };
    expect(await comparisons.compare(CALLER, request)).toMatchObject({
      runs: [{ id: a }, { id: b }],
      missing: [1],
      patches: [{ how: "same" }],
    });
    const eve = callerWithout({ runs: [b] });
    expect(await comparisons.compare(eve, request)).toMatchObject({ runs: [{ id: a }], missing: [1, 2] });
    const none = await comparisons.compare(CALLER, { ...request, runs: [] });
    expect(none).toMatchObject({ runs: [], parts: [], metrics: [] });
    const many = Array.from({ length: limits.comparedRunsMax + 1 }, () => byId(a));
    expect(await errorOf(comparisons.compare(CALLER, { ...request, runs: many }))).toMatchObject({
      code: "exhausted",
    });
    expect(await errorOf(comparisons.compare(CALLER, { ...request, stats: ["worst"] }))).toMatchObject({
      code: "invalid",
    });
  });

  it("M9 refuses runs that are too large together", async () => {
    const { make, compare } = await build();
    const large = JSON.stringify("x".repeat(60_000));
    const params = Object.fromEntries(
      Array.from({ length: 150 }, (_, i) => [`p${i}`, large.replace("x", String(i % 10))]),
    );
    const ids = [await make(params, []), await make({ ...params, p0: "1" }, [])];
    expect(await compare(ids, { onlyDifferent: true })).toMatchObject({
      runs: [{ id: ids[0] }, { id: ids[1] }],
    });
    const six = [
      ...ids,
      ...(await Promise.all([1, 2, 3, 4, 5, 6].map((p0) => make({ ...params, p0: `"${p0}"` }, [])))),
    ];
    expect(await errorOf(compare(six))).toMatchObject({ code: "exhausted", reason: "LIMIT_EXCEEDED" });
  });
}
