import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type RunFeedBatch,
  type RunFeedRow,
  type RunSearch,
  type SearchRequest,
  type SearchResult,
} from "#core/ports/run-search.ts";
import type { Query } from "#lang/query/ast.ts";
import { parseQuery } from "#lang/query/parser.ts";
import type { ScriptEngine, ScriptFound, ScriptRun, ScriptSearch } from "#lang/query/testing/script.ts";

/** A RunSearch that knows nothing yet, and a way to tell it. */
export interface OpenedSearch {
  search: RunSearch;
  /** Resolves when the batch is on its way; a search that names its position must see it. */
  apply(batch: RunFeedBatch): Promise<void> | void;
  close(): Promise<void> | void;
}

/** One series as a test writes it down: the values are its points, at steps 0, 1, 2, … unless said otherwise. */
export interface FedSeries {
  run: number;
  key: string;
  label?: string;
  points: readonly number[];
  lastStep?: number;
}

const CREATED_US = 1_767_225_600_000_000;

/** A finished run with nothing in it, created `key` seconds into 2026. */
export function feedRow(key: number, row: Partial<Omit<RunFeedRow, "key">> = {}): RunFeedRow {
  const createdUs = CREATED_US + key * 1_000_000;
  return {
    key,
    id: idOf(key),
    namespace: "lab",
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
    ...row,
  };
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
  ];
  if (stats.length !== METRIC_FEED_STATS) throw new Error("the feed has other statistics");
  return stats;
}

/** Tells a RunSearch about runs and asks it at the position it has been told. */
export class RunFeeder implements ScriptEngine {
  readonly #opened: OpenedSearch;
  #position = 0;
  #names = new Map<string, string>();

  constructor(opened: OpenedSearch) {
    this.#opened = opened;
  }

  get position(): number {
    return this.#position;
  }

  async tell(
    change: Partial<Omit<RunFeedBatch, "metrics">> & { metrics?: readonly FedSeries[] },
  ): Promise<void> {
    const position = change.position ?? this.#position + 1;
    this.#position = position;
    await this.#opened.apply({
      position,
      reset: change.reset ?? false,
      runs: change.runs ?? [],
      purged: change.purged ?? [],
      metrics: change.metrics === undefined ? undefined : metricFeed(change.metrics),
    });
  }

  ask(
    query: string | Query,
    options: Partial<SearchRequest> = {},
    position = this.#position,
  ): Promise<SearchResult> {
    return this.#opened.search.search(searchRequest(query, options), position);
  }

  /** Keys of the runs found. */
  async find(query: string | Query, options: Partial<SearchRequest> = {}): Promise<number[]> {
    const { ids } = await this.ask(query, options);
    return ids.map((id) => Number(id.slice(1)));
  }

  /** Replaces everything; the first run has key 1. */
  async load(runs: readonly ScriptRun[]): Promise<void> {
    this.#names = new Map(runs.map(({ id, name }) => [id, name]));
    await this.tell({
      reset: true,
      runs: runs.map((run, at) => scriptRow(run, at + 1)),
      metrics: runs.flatMap((run, at) => scriptSeries(run, at + 1)),
    });
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

export function scriptRow(run: ScriptRun, key: number): RunFeedRow {
  const { metrics: _, tags, ...rest } = run;
  return { ...rest, key, tags: [...tags], deletedUs: undefined };
}

export function scriptSeries(run: ScriptRun, key: number): FedSeries[] {
  return [...run.metrics].map(([name, points]) => ({ run: key, key: name, points }));
}
