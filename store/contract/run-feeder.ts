import { MessageChannel } from "node:worker_threads";
import { SharedNumber } from "#base/threads/shared-number.ts";
import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type ModelFeedRow,
  type RunChanges,
  type RunChangesLink,
  type RunFeedBatch,
  type RunFeedRow,
  type RunMark,
} from "#core/ports/run-changes.ts";
import type {
  ModelSearchRequest,
  ModelSearchResult,
  RunSearch,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import { serveRunChanges } from "#core/runs/run-changes-link.ts";
import type { Query } from "#lang/query/ast.ts";
import { parseQuery } from "#lang/query/parser.ts";
import {
  modelName,
  type ScriptEngine,
  type ScriptFound,
  type ScriptRun,
  type ScriptSearch,
} from "#lang/query/testing/script.ts";

/** Opens a RunSearch that follows these changes. */
export type OpenSearch = (changes: RunFeeder) => Promise<RunSearch>;

/** One series as a test defines it: the values are its points, at steps 0, 1, 2, … unless said otherwise. */
export interface FedSeries {
  run: number;
  key: string;
  label?: string;
  points: readonly number[];
  lastStep?: number;
}

const namespaceIds = new Map<string, number>();
const CREATED_US = 1_767_225_600_000_000;

/** A finished run with nothing in it, created `key` seconds into 2026. */
export function feedRow(key: number, row: Partial<Omit<RunFeedRow, "key">> = {}): RunFeedRow {
  const createdUs = CREATED_US + key * 1_000_000;
  return {
    key,
    id: idOf(key),
    namespace: "lab",
    namespaceId: namespaceIdOf(row.namespace ?? "lab"),
    name: `run ${key}`,
    status: "finished",
    notes: "",
    aliases: [],
    params: "{}",
    tags: [],
    createdUs,
    startedUs: createdUs,
    endedUs: createdUs + 60_000_000,
    updatedUs: createdUs + 60_000_000,
    deletedUs: undefined,
    creator: "",
    searchable: undefined,
    ...row,
  };
}

/** The same for the same path, as long as it is not moved. */
export function namespaceIdOf(path: string): number {
  let id = namespaceIds.get(path);
  if (id === undefined) namespaceIds.set(path, (id = namespaceIds.size + 1));
  return id;
}

/** Rises with the key. */
export function idOf(key: number): string {
  return `r${String(key).padStart(31, "0")}`;
}

export function metricFeed(series: readonly FedSeries[]): MetricFeed {
  const keys = [...new Set(series.map(({ key }) => key))];
  const labels = [...new Set(series.map(({ label }) => label ?? ""))];
  const keyAt = new Map(keys.map((key, at) => [key, at]));
  const labelAt = new Map(labels.map((label, at) => [label, at]));
  return {
    keys,
    labels,
    runs: Float64Array.from(series, ({ run }) => run),
    key: Uint32Array.from(series, ({ key }) => keyAt.get(key)!),
    label: Uint32Array.from(series, ({ label }) => labelAt.get(label ?? "")!),
    stats: Float64Array.from(series.flatMap(statsOf)),
  };
}

function statsOf({ points, lastStep }: FedSeries): number[] {
  const numbers = points.filter((value) => !Number.isNaN(value));
  const stats = [
    points.length,
    points.length - numbers.length,
    points[0] ?? Number.NaN,
    points.at(-1) ?? Number.NaN,
    numbers.length === 0 ? Number.NaN : Math.min(...numbers),
    numbers.length === 0 ? Number.NaN : Math.max(...numbers),
    numbers.reduce((sum, value) => sum + value, 0),
    lastStep ?? points.length - 1,
    numbers.length === 0 ? Number.NaN : points.indexOf(Math.min(...numbers)),
    numbers.length === 0 ? Number.NaN : points.indexOf(Math.max(...numbers)),
  ];
  if (stats.length !== METRIC_FEED_STATS) throw new Error("the feed has other statistics");
  return stats;
}

const JOURNAL = "feeder";

const NOTHING = { reset: false, runs: [], purged: [], metrics: undefined };

/** A minimal RunChanges: a list of batches from a test. With helpers to search its follower. */
export class RunFeeder implements RunChanges, ScriptEngine {
  readonly #batches: RunFeedBatch[] = [
    { mark: { journal: JOURNAL, position: 0 }, reset: true, runs: [], purged: [], metrics: undefined },
  ];
  readonly #last = new SharedNumber();
  readonly #waiting: (() => void)[] = [];
  readonly #waited: (() => void)[] = [];
  #search: RunSearch | undefined;
  #names = new Map<string, string>();
  /** How often a batch was requested. */
  asked = 0;

  static async open(open: OpenSearch): Promise<RunFeeder> {
    const feeder = new RunFeeder();
    feeder.#search = await open(feeder);
    return feeder;
  }

  get runSearch(): RunSearch {
    return this.#search!;
  }

  async close(): Promise<void> {
    await this.#search?.close();
  }

  position(): number {
    return this.#last.value;
  }

  /** For a follower in another thread. */
  link(): RunChangesLink {
    const { port1, port2 } = new MessageChannel();
    port2.unref();
    serveRunChanges(port2, (mark) => this.runsSince(mark));
    return { port: port1, position: this.#last.buffer };
  }

  /** Waits for a batch where the last one is behind the position. */
  async runsSince(mark: RunMark | undefined): Promise<RunFeedBatch> {
    this.asked++;
    for (;;) {
      const next = this.#batches.find((batch) => batch.mark.position > (mark?.position ?? -1));
      // The receiver owns its columns.
      if (next !== undefined) return structuredClone(next);
      if (mark!.position >= this.position()) return { ...NOTHING, mark: mark! };
      const asked = new Promise<void>((resolve) => this.#waiting.push(resolve));
      for (const resolve of this.#waited.splice(0)) resolve();
      await asked;
    }
  }

  /** Resolves when a follower waits for a batch that was not sent yet. */
  async whenAsked(): Promise<void> {
    if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#waited.push(resolve));
  }

  /** A change was acknowledged; its content follows with `tell`. */
  announce(position: number): void {
    this.#last.value = position;
  }

  tell(
    change: Partial<Omit<RunFeedBatch, "metrics" | "mark">> & {
      position?: number;
      metrics?: readonly FedSeries[];
    },
  ): void {
    const position = change.position ?? this.#batches.at(-1)!.mark.position + 1;
    this.#batches.push({
      mark: { journal: JOURNAL, position },
      reset: change.reset ?? false,
      runs: change.runs ?? [],
      purged: change.purged ?? [],
      metrics: change.metrics === undefined ? undefined : metricFeed(change.metrics),
      ...(change.namespaces !== undefined && { namespaces: change.namespaces }),
      ...(change.models !== undefined && { models: change.models }),
    });
    if (position > this.position()) this.announce(position);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  ask(query: string | Query, options: Partial<SearchRequest> = {}): Promise<SearchResult> {
    return this.runSearch.search(searchRequest(query, options));
  }

  /** Keys of the runs found. */
  async find(query: string | Query, options: Partial<SearchRequest> = {}): Promise<number[]> {
    const { ids } = await this.ask(query, options);
    return ids.map((id) => Number(id.slice(1)));
  }

  /** Replaces everything; the first run has key 1. */
  async load(runs: readonly ScriptRun[]): Promise<void> {
    this.#names = new Map(runs.map(({ id, name }) => [id, name]));
    this.tell({
      reset: true,
      runs: runs.map((run, at) => scriptRow(run, at + 1)),
      metrics: runs.flatMap((run, at) => scriptSeries(run, at + 1)),
      models: { gone: [], rows: runs.flatMap((run, at) => scriptModels(run, at + 1)) },
    });
  }

  askModels(query: string | Query, options: Partial<ModelSearchRequest> = {}): Promise<ModelSearchResult> {
    return this.runSearch.searchModels(modelRequest(query, options));
  }

  /** What `askModels` finds, each as KEY:NAME@STEP with the key of its run. */
  async findModels(query: string | Query, options: Partial<ModelSearchRequest> = {}): Promise<string[]> {
    const { models } = await this.askModels(query, options);
    return models.map((model) => modelName(String(Number(model.runId.slice(1))), model));
  }

  async searchModels(query: Query, { limit, after, nowUs }: ScriptSearch): Promise<ScriptFound> {
    const { models, total, next } = await this.askModels(query, { limit, after, nowUs });
    const names = models.map((model) => modelName(this.#names.get(model.runId) ?? model.runId, model));
    return { names, total, next };
  }

  async search(query: Query, { limit, after, nowUs }: ScriptSearch): Promise<ScriptFound> {
    const { ids, total, next } = await this.ask(query, { limit, after, nowUs });
    return { names: ids.map((id) => this.#names.get(id) ?? id), total, next };
  }
}

export function searchRequest(query: string | Query, options: Partial<SearchRequest> = {}): SearchRequest {
  return {
    query: typeof query === "string" ? parseQuery(query, { nowUs: CREATED_US }) : query,
    readable: undefined,
    under: "",
    trashed: false,
    limit: 100,
    after: undefined,
    metrics: [],
    ...options,
  };
}

export function modelRequest(
  query: string | Query,
  options: Partial<ModelSearchRequest> = {},
): ModelSearchRequest {
  return {
    query: typeof query === "string" ? parseQuery(query, { nowUs: CREATED_US, models: true }) : query,
    readable: undefined,
    hidden: new Map(),
    under: "",
    limit: 100,
    after: undefined,
    ...options,
  };
}

/** The most models of a run of a script. */
const SCRIPT_MODELS_MAX = 100;

export function scriptModels({ models }: ScriptRun, run: number): ModelFeedRow[] {
  return models.map((model, at) => ({ ...model, key: run * SCRIPT_MODELS_MAX + at, run }));
}

export function scriptRow(run: ScriptRun, key: number): RunFeedRow {
  const { metrics: _, models: __, tags, ...rest } = run;
  const namespaceId = namespaceIdOf(run.namespace);
  return {
    ...rest,
    key,
    namespaceId,
    tags: [...tags],
    deletedUs: undefined,
  };
}

export function scriptSeries(run: ScriptRun, key: number): FedSeries[] {
  return [...run.metrics].map(([name, points]) => ({ run: key, key: name, points }));
}
