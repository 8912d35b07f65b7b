import fc from "fast-check";
import { expect, it } from "vitest";
import type { FieldKind, FieldsRequest, FoundFields, RunSelection } from "#core/ports/run-search.ts";
import { isUnder } from "#lang/namespace-path.ts";
import type { MetricStat, Query } from "#lang/query/ast.ts";
import { matches } from "#lang/query/evaluate.ts";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import { statOf, viewScriptRun } from "#lang/query/testing/reference.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import { naiveBest, naiveFields, naiveFrontier, naiveImportance, type NaiveRun } from "../naive-explore.ts";
import { feedRow, RunFeeder, type OpenSearch } from "../run-feeder.ts";

const EVERYTHING: Query = { where: undefined, orderBy: [] };
const KINDS: readonly FieldKind[] = ["param", "tag", "metric"];
const BOUNDS = { paramsMax: 100, valuesMax: 1e6 };

export function exploreContract(open: OpenSearch, cases: number): void {
  const withRuns = async (runs: readonly ScriptRun[], act: (feeder: RunFeeder) => Promise<void>) => {
    const feeder = await RunFeeder.open(open);
    try {
      await feeder.load(runs);
      await act(feeder);
    } finally {
      await feeder.close();
    }
  };
  const many = arbitraryRuns(40);
  const under = fc.constantFrom("", "a", "a/b", "ab", "nowhere");
  const property = (act: (runs: ScriptRun[], selection: RunSelection) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(many, arbitraryQuery(), under, async (runs, query, path) => {
        await act(runs, { query, under: path, readable: undefined, nowUs: ARBITRARY_NOW_US });
      }),
      { numRuns: cases },
    );

  it("M1 finds the fields and values of the selected runs, as counted one by one", () =>
    property((runs, selection) =>
      withRuns(runs, async ({ runSearch: search }) => {
        for (const request of fieldsRequests(selection)) {
          const found = await search.fields(request);
          expect(sorted(found)).toEqual(sorted(naiveFields(selected(runs, selection), request)));
        }
      }),
    ));

  it("M2 finds the best run of each namespace, as searched one by one", () =>
    property((runs) =>
      withRuns(runs, async ({ runSearch: search }) => {
        const goals = ["", "a", "a/b", "nowhere"].flatMap((path) =>
          (["min", "max"] as const).flatMap((stat) =>
            ["loss", "val/acc", "none"].map((key) => ({ under: path, key, stat })),
          ),
        );
        const all = { query: EVERYTHING, readable: undefined, under: "" };
        const found = await search.best({ readable: undefined, goals });
        expect(found).toEqual(naiveBest(selected(runs, all), goals));
      }),
    ));

  it("M3 returns how strongly params are associated with a field, as computed over a list", () =>
    property((runs, selection) =>
      withRuns(runs, async ({ runSearch: search }) => {
        const request = {
          ...selection,
          objective: { of: "metric", key: "loss", stat: "last" },
          bounds: BOUNDS,
        } as const;
        const found = await search.importance(request);
        expect(found).toEqual(await naiveImportance(selected(runs, selection), request));
      }),
    ));

  it("M1, M2: leave out runs that the caller may not read and runs in the trash", async () => {
    const feeder = await RunFeeder.open(open);
    feeder.tell({
      runs: [
        feedRow(1, { namespace: "open", params: '{"lr":1}' }),
        feedRow(2, { namespace: "shut", params: '{"secret":1}', tags: [["who", "x"]] }),
        feedRow(3, { namespace: "open", params: '{"lr":2}', deletedUs: 5 }),
      ],
      metrics: [1, 2, 3].map((run) => ({ run, key: run === 2 ? "hidden" : "loss", points: [4 - run] })),
    });
    const readable = {
      id: "m",
      namespaces: new Map([
        ["", false],
        ["open", true],
      ]),
      runs: new Map<string, boolean>(),
    };
    const [request] = fieldsRequests({ query: EVERYTHING, under: "", readable });
    const { fields, runs } = await feeder.runSearch.fields(request!);
    expect(runs).toBe(1);
    expect(fields.map(({ key, values }) => [key, values])).toEqual([
      ["lr", [[1, 1]]],
      ["loss", []],
    ]);
    const goals = ["hidden", "loss"].map((key) => ({ under: "", key, stat: "min" as const }));
    const best = await feeder.runSearch.best({ readable, goals });
    expect(best).toEqual([undefined, { id: feedRow(1).id, value: 3, step: 0 }]);
    await feeder.close();
  });

  it("M4 finds the frontier, as compared pair by pair", () =>
    property((runs, selection) =>
      withRuns(runs, async ({ runSearch: search }) => {
        const goals = [
          { field: { of: "metric", key: "loss", stat: "min" }, maximize: false },
          { field: { of: "param", key: "x" }, maximize: true },
          { field: { of: "run", name: "duration" }, maximize: false },
        ] as const;
        for (const count of [2, 3]) {
          const request = { ...selection, goals: goals.slice(0, count), limit: 5 };
          const found = await search.frontier(request);
          const naive = await naiveFrontier(selected(runs, selection), request);
          expect({ total: found.total, counted: found.counted }).toEqual({
            total: naive.total,
            counted: naive.counted,
          });
          expect(found.runs.map(({ values }) => values)).toEqual(naive.runs.map(({ values }) => values));
        }
      }),
    ));
}

function fieldsRequests(selection: RunSelection): FieldsRequest[] {
  const known = { objective: "a.max", described: new Set(["top 5"]) };
  const all = { ...selection, kinds: new Set(KINDS), find: "", known, valuesMax: 3, offset: 0, limit: 1_000 };
  return [all, { ...all, find: "X", kinds: new Set(["param"]) }, { ...all, offset: 1, limit: 2 }];
}

/** Values of the same number of runs come in any order, so sums over them differ in their last digits. */
function sorted({ fields, ...rest }: FoundFields) {
  return {
    ...rest,
    fields: fields.map((field) => ({
      ...field,
      values: field.values.map(([, runs]) => runs),
      variety: Number(field.variety.toPrecision(12)),
    })),
  };
}

function selected(runs: readonly ScriptRun[], { query, under, nowUs = 0 }: RunSelection): NaiveRun[] {
  return runs
    .filter(({ namespace }) => isUnder(namespace, under))
    .filter((run) => query.where === undefined || matches(query.where, viewScriptRun(run, nowUs)))
    .map((run) =>
      Object.assign({}, run, {
        metricKeys: [...run.metrics.keys()],
        stat: (key: string, stat: MetricStat) => statOf(run.metrics.get(key) ?? [], stat),
        step: (key: string, stat: "min" | "max") => {
          const points = run.metrics.get(key) ?? [];
          return points.indexOf(Math[stat](...points.filter((value) => !Number.isNaN(value))));
        },
      }),
    );
}
