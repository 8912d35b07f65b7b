import { expect, it } from "vitest";
import type { SearchRuns } from "#core/runs/runs.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import { splitObject } from "#lang/json/object-text.ts";
import type { Query } from "#lang/query/ast.ts";
import { parseQuery } from "#lang/query/parser.ts";
import {
  modelName,
  readScripts,
  runScript,
  type ScriptEngine,
  type ScriptFound,
  type ScriptRun,
  type ScriptSearch,
} from "#lang/query/testing/script.ts";
import { reference } from "../artifact-samples.ts";
import { asked, buildCore, CALLER, groupsOf, type CoreUnderTest } from "../core-under-test.ts";
import {
  appendOne,
  AUDIT,
  envelope,
  newRun,
  NOW_US,
  numbers,
  refused,
  useStores,
  type Bench,
  type OpenStores,
} from "../stores.ts";
import { ALL_RUNS, WatchReader } from "../watch/reader.ts";

/** Runs of scripts in a store, searched through core by text and by tree. */
class CoreEngine implements ScriptEngine {
  readonly #bench: Bench;
  readonly #core: CoreUnderTest;
  #ids: string[] = [];

  constructor(bench: Bench, core: CoreUnderTest) {
    this.#bench = bench;
    this.#core = core;
  }

  async load(runs: readonly ScriptRun[]): Promise<void> {
    const { runs: store, journal } = this.#bench;
    for (const id of this.#ids.splice(0)) {
      await store.setDeleted(id, NOW_US, AUDIT);
      await store.purgeRun(id, AUDIT);
    }
    for (const { metrics, params, tags, models, searchable, ...run } of runs) {
      const maps = { params: splitObject(params), tags: new Map(tags), provenance: provenanceOf(searchable) };
      await store.createRun(newRun({ ...run, ...maps }), { getOrCreate: false });
      const series = [...metrics]
        .filter(([, values]) => values.length > 0)
        .map(([key, values]) => numbers(key, values));
      await appendOne(journal, envelope(run.id, 0, { series }));
      for (const { name, step, sizeBytes, createdUs } of models) {
        const model = reference({ name, step, sizeBytes, kind: "model" });
        await this.#bench.under.artifacts.putArtifact(run.id, model, createdUs);
      }
      this.#ids.push(run.id);
    }
  }

  async search(query: Query, { limit, after = "", nowUs }: ScriptSearch, text: string): Promise<ScriptFound> {
    this.#core.clock.us = nowUs;
    const page = { ...ALL_RUNS, trashed: false, pageSize: limit, pageToken: after } satisfies SearchRuns;
    const byTree = await this.#core.runs.search(CALLER, { ...page, query });
    const byText = await this.#core.runs.search(CALLER, { ...page, query: text });
    expect(byText, text).toEqual(byTree);
    const { runs, totalCount: total, nextPageToken } = byTree;
    const names = runs.map(({ run }) => run.name);
    return { names, total, next: nextPageToken === "" ? undefined : nextPageToken };
  }

  async searchModels(query: Query, page: ScriptSearch, text: string): Promise<ScriptFound> {
    this.#core.clock.us = page.nowUs;
    const first = { namespace: "", pageSize: page.limit, pageToken: page.after ?? "" };
    const byTree = await this.#core.models.search(CALLER, { ...first, query });
    const byText = await this.#core.models.search(CALLER, { ...first, query: text });
    expect(byText, text).toEqual(byTree);
    const { models, totalCount: total, nextPageToken } = byTree;
    const names = models.map(({ run, artifact }) => modelName(run.name, artifact));
    return { names, total, next: nextPageToken === "" ? undefined : nextPageToken };
  }
}

function provenanceOf(searchable: ScriptRun["searchable"]): Provenance | undefined {
  if (searchable === undefined) return undefined;
  const { user, host, study, repository, commit, branch } = searchable;
  return {
    ...NO_PROVENANCE,
    user,
    study,
    initialState: searchable.initial_state,
    trainingData: searchable.training_data,
    testData: searchable.test_data,
    featurePipeline: searchable.feature_pipeline,
    logsLocation: searchable.logs_location,
    environment: new Map(host === "" ? [] : [["host", host]]),
    code: { ...NO_CODE, repository, commit, branch },
  };
}

export function coreSearchByTreeContract(open: OpenStores): void {
  const bench = useStores(open);

  it.each(readScripts())("Q9 Q1 finds by a tree what it finds by the text: $file", async (script) => {
    const engine = new CoreEngine(bench, await buildCore(bench.under));
    expect(await runScript(script, engine)).toBeGreaterThan(0);
  });

  /** A query as text, the same as a tree, and a tree that is over a limit. */
  const setUp = async () => {
    const core = await buildCore(bench.under, { waveMs: 1 });
    for (const [lr, values] of [
      ["0.1", [3, 1]],
      ["0.2", [2]],
      ["0.3", [5]],
    ] as const) {
      const { run } = await core.runs.create(
        CALLER,
        asked({ namespace: "lab", params: new Map([["lr", lr]]) }),
      );
      await appendOne(bench.journal, envelope(run.id, 0, { series: [numbers("loss", values)] }));
    }
    const text = "params.lr < 0.3 and created > now-1h";
    const tree = parseQuery(text, { nowUs: core.clock.us });
    const wrong: Query = { where: { op: "in", field: { of: "param", key: "lr" }, values: [] }, orderBy: [] };
    return { core, text, tree, wrong };
  };

  it("Q9 Q10 accepts a text or a tree in every call with a query, and limits a tree", async () => {
    const { core, text, tree, wrong } = await setUp();
    const runs = (query: string | Query) => ({ query, namespace: "lab" });
    const fields = { kinds: [], find: "", valuesMax: 0, pageSize: 0, pageToken: "" };
    const goals = ["metrics.loss.min", "params.lr"].map(
      (field) => ({ field, direction: "minimize" }) as const,
    );
    const groups = groupsOf({ groupBy: ["params.lr"] });
    const calls: Readonly<Record<string, (query: string | Query) => Promise<unknown>>> = {
      search: (query) =>
        core.runs.search(CALLER, { ...ALL_RUNS, trashed: false, pageSize: 0, pageToken: "", query }),
      fields: (query) => core.explore.listFields(CALLER, { ...fields, runs: runs(query) }),
      importance: (query) =>
        core.explore.importance(CALLER, { runs: runs(query), objective: "metrics.loss.min" }),
      frontier: (query) => core.explore.frontier(CALLER, { runs: runs(query), goals }),
      groups: (query) => core.groups.read(CALLER, { ...groups, query }),
    };
    for (const [what, call] of Object.entries(calls)) {
      const answer = await call(tree);
      expect(answer, what).toEqual(await call(text));
      expect(answer, what).not.toEqual(await call(""));
      await expect(call(wrong), what).rejects.toEqual(refused("invalid", "QUERY_TREE"));
    }
  });

  it("Q9 H2 watches the same by a tree as by the text", async () => {
    const { core, text, tree, wrong } = await setUp();
    const watch = (query: string | Query) => WatchReader.open(core, { runs: { ...ALL_RUNS, query } });
    const other = parseQuery("params.lr > 0.3", { nowUs: core.clock.us });
    const [low, high] = [[await watch(text), await watch(tree)], [await watch(other)]];
    const news = async (reader: WatchReader) => {
      const { runs, left } = await reader.next("runs");
      return [runs.map(({ run }) => run.id), left];
    };
    for (const lr of ["0.2", "0.4"]) {
      const { run } = await core.runs.create(
        CALLER,
        asked({ namespace: "lab", params: new Map([["lr", lr]]) }),
      );
      const [found, left] = [
        [[run.id], []],
        [[], [run.id]],
      ];
      for (const reader of low) expect(await news(reader)).toEqual(lr === "0.2" ? found : left);
      for (const reader of high) expect(await news(reader)).toEqual(lr === "0.2" ? left : found);
    }
    for (const reader of [...low, ...high]) await reader.leave();
    await expect(watch(wrong)).rejects.toEqual(refused("invalid", "QUERY_TREE"));
  });
}
