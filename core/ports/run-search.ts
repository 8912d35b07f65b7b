import type { Field, Literal, MetricStat, Query } from "#lang/query/ast.ts";
import type { HiddenArtifacts, ReadMask } from "../types/scope.ts";
import type { ArtifactPlaceInRun } from "./artifact-store.ts";

/**
 * Answers queries over all runs. Every answer includes each change that was acknowledged before the call: the embedded
 * engine keeps typed columns in memory, follows RunChanges, and answers once it has applied the last position; an
 * engine that queries the database itself follows nothing. Throws `unavailable` (SEARCH_BEHIND) when that takes too long.
 *
 * Runs are selected in the order of the calls: when a search has been answered, none that was asked before it selects any more by a
 * `readable` of before.
 *
 * A call with a signal rejects with the signal's reason once that is aborted.
 */
export interface RunSearch {
  search(request: SearchRequest, signal?: AbortSignal): Promise<SearchResult>;
  /** Models of the selected runs, newest first where the query has no order. The query may have fields of models. */
  searchModels(request: ModelSearchRequest, signal?: AbortSignal): Promise<ModelSearchResult>;
  /**
   * One entry per namespace with a run outside the trash that the caller may read by `readable`;
   * undefined, or none, counts every run.
   */
  tally(readable?: ReadMask): Promise<NamespaceTally[]>;
  /**
   * Per goal the run outside the trash with the best number, undefined where none has one; at a tie the newest. NaN
   * is not a number.
   */
  best(request: BestRequest, signal?: AbortSignal): Promise<(BestFound | undefined)[]>;
  /** The keys that the selected runs have, in the order of core/explore/fields.ts. */
  fields(request: FieldsRequest, signal?: AbortSignal): Promise<FoundFields>;
  /** How strongly the params of the selected runs are associated with a field (core/explore/importance.ts). */
  importance(request: ImportanceRequest, signal?: AbortSignal): Promise<Importance>;
  /** The selected runs that no other beats (core/explore/frontier.ts). Throws `deadline` where that takes too long. */
  frontier(request: FrontierRequest, signal?: AbortSignal): Promise<FoundFrontier>;
  close(): Promise<void>;
}

/** Which runs; none that are in the trash. */
export interface RunSelection {
  query: Query;
  /**
   * What the caller may read; undefined for everything. Other runs are neither found nor counted.
   * An engine may cache a mask under its id, so that it need not be sent again.
   */
  readable: ReadMask | undefined;
  /** Only runs in this namespace and below; "" for all. */
  under: string;
  /** The end for durations of runs that have not ended; the engine's own clock when absent. Later pages keep the first one's. */
  nowUs?: number;
}

export interface SearchRequest extends RunSelection {
  /** Only these runs, by id; undefined for all. */
  only?: readonly string[];
  /** Runs in the trash instead of the others. */
  trashed: boolean;
  limit: number;
  /** How many rows to skip before the first, counted from `after` where that is given; none when absent. */
  offset?: number;
  /** From an earlier result's `next`, with the same query. */
  after: string | undefined;
  /** Metric columns to return, one row of numbers each. */
  metrics: readonly { key: string; stat: MetricStat }[];
}

export interface SearchResult {
  ids: string[];
  /** Per requested metric, per id; undefined where the run has no such metric. */
  metrics: (number | undefined)[][];
  /** All that match. */
  total: number;
  /** undefined on the last page. Survives inserts and deletes: it names the last row, not a count. */
  next: string | undefined;
}

export interface ModelSearchRequest extends RunSelection {
  /** Artifacts that the caller may not read in runs that it may. They are neither found nor counted. */
  hidden: HiddenArtifacts;
  limit: number;
  /** As in SearchRequest. */
  after: string | undefined;
}

export interface ModelSearchResult {
  models: ArtifactPlaceInRun[];
  /** All that match. */
  total: number;
  /** As in SearchResult. */
  next: string | undefined;
}

export interface BestRequest {
  readable: ReadMask | undefined;
  goals: readonly BestGoal[];
}

/** The smallest or largest value of a metric among the runs of a namespace and below it. */
export interface BestGoal {
  under: string;
  key: string;
  stat: "min" | "max";
}

export interface BestFound {
  id: string;
  value: number;
  /** At which the run had the value; undefined for a metric without steps. */
  step: number | undefined;
}

export type FieldKind = "param" | "tag" | "metric";

/** What is known of metrics without reading runs; both come first. */
export interface KnownMetrics {
  readonly objective: string | undefined;
  readonly described: ReadonlySet<string>;
}

export interface FieldsRequest extends RunSelection {
  kinds: ReadonlySet<FieldKind>;
  /** Only keys that contain this text, ignoring case. */
  find: string;
  known: KnownMetrics;
  /** Of each field. */
  valuesMax: number;
  /** How many fields to skip, and how many to return. */
  offset: number;
  limit: number;
}

export interface FoundFields {
  fields: FieldInfo[];
  /** All that fit. */
  total: number;
  /** Runs that are selected. */
  runs: number;
}

export interface FieldInfo {
  readonly kind: FieldKind;
  readonly key: string;
  /** Runs that have it. */
  readonly runs: number;
  /** It has several values, or some of the runs lack it. */
  readonly varies: boolean;
  readonly variety: number;
  readonly numeric: boolean;
  /** The most frequent first. */
  readonly values: readonly (readonly [value: Literal, runs: number])[];
  readonly moreValues: boolean;
}

export interface ImportanceRequest extends RunSelection {
  objective: Field;
  bounds: ImportanceBounds;
}

export interface ImportanceBounds {
  /** Params that are examined. */
  paramsMax: number;
  /** Values that are examined: params times runs. */
  valuesMax: number;
}

export interface Importance {
  /** The strongest first. */
  readonly params: readonly ParamImportance[];
  /** Params that are the same in all runs that have the objective, or that too few of them have. */
  readonly constant: readonly string[];
  readonly rare: readonly string[];
  /** Runs that have the objective. */
  readonly runs: number;
  /** Params that vary and were not examined. */
  readonly leftOut: number;
}

/** How one param and the objective are associated. */
export interface ParamImportance {
  readonly key: string;
  /** 0 to 1: the size of a rank correlation, or the root of the corrected share of variance between groups. */
  readonly strength: number;
  /** For numbers: whether the objective rises (1) or falls (-1) with it; NaN for texts. */
  readonly rho: number;
  /** Runs that have both. */
  readonly runs: number;
  /** Independent values would often have as much. */
  readonly isChance: boolean;
  /** A number whose effect is not monotonic. */
  readonly isCurved: boolean;
  /** Other params associated with it, so that their effects cannot be separated. */
  readonly related: string[];
}

export interface FrontierRequest extends RunSelection {
  goals: readonly { field: Field; maximize: boolean }[];
  limit: number;
}

export interface FoundFrontier {
  /** By the first goal, the best first, `limit` at most. */
  runs: FrontierRun[];
  /** On the frontier. */
  total: number;
  /** Selected runs that have a number for every goal. */
  counted: number;
}

export interface FrontierRun {
  id: string;
  name: string;
  namespace: string;
  /** One per goal. */
  values: number[];
}

export interface NamespaceTally {
  namespace: string;
  runs: number;
  running: number;
  lastActivityUs: number;
}
