import type { HostName } from "../types/host.ts";
import type { Labels, Points, SeriesInfo, SeriesKind } from "../types/series.ts";
import type { ReadMask } from "../types/scope.ts";
import type { Matcher } from "../types/matchers.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/**
 * Reads, and deletes, the points that `Journal.append` acknowledged. A read sees everything acknowledged
 * before it was called, and one consistent moment of each series. Once its signal is aborted it stops and
 * rejects with the signal's reason.
 */
export interface PointStore {
  /**
   * The series that all matchers select among those in the scope, rising by run, then by key, then by labels; hosts come
   * after all runs, by namespace and name. `pattern` is tested with each distinct key. Unknown runs and hosts have none. `after` is a position from an earlier answer's `next`. Ends
   * before the series whose texts would make all of them more than `bytesMax`, but for the first. Among several runs it
   * also ends once it has read `lookMax` runs and series: a page may then be short or empty although there is a `next`.
   */
  selectSeries(request: SelectSeries, signal?: AbortSignal): Promise<SelectedSeries>;
  /**
   * The names of labels of the selected series, or the values of one label, or the keys: each text once, rising by
   * code points, with how many of the series have it; a label that a series lacks has no value there. Reads
   * `lookMax` runs and series at most, and says when there were more.
   */
  listLabels(request: ListLabels, signal?: AbortSignal): Promise<ListedLabels>;
  /**
   * Destroys points of the selected series: those in the range, replaced ones, too; with an open range all of them. A
   * series without points is deleted, and starts empty when it is written again. The other points do not change:
   * replaced ones stay replaced. The ledger of envelopes does not change. A host is deleted with its last series.
   *
   * Works on one series after the other, in the order of `selectSeries`, and ends once it has worked on `pointsMax`
   * points or `seriesMax` series; `next` then says where to continue. The record is written when points were deleted, with how many
   * as facts `series` and `points`. Throws `not-found` for an unknown run (an unknown host has no series), and `corrupt` for a range of
   * a damaged series.
   */
  deleteSeries(request: DeleteSeries, audit: AuditRecord): Promise<DeletedSeries>;
  /**
   * Metric keys of one run, rising, from its next `limit` series: a key that has more series is repeated in
   * the next part. An unknown run has none.
   */
  listMetricKeys(request: ListMetricKeys, signal?: AbortSignal): Promise<ListedMetricKeys>;
  /**
   * Several series at once, in the order asked for; a selector without matches yields nothing, and a
   * series that several selectors name is returned once, where it is named first. Throws `exhausted`
   * (LIMIT_EXCEEDED) when the answer would exceed its bounds: before anything is read where the counts
   * are known, else as soon as it is too much. The caller owns the arrays.
   */
  readSeries(request: ReadSeries, signal?: AbortSignal): Promise<ReadSeriesResult>;
  /**
   * One metric over groups of runs, from all points that are not replaced: per run and bucket the mean of
   * its numbers, whatever label set they have; then over the runs of a group. All on one grid: a bound that
   * is given is the grid's, an open one is where the points of all groups end. A run without the metric
   * is ignored.
   *
   * Throws `invalid` (KIND_MISMATCH) when one of the series holds texts, and `exhausted` before it reads when
   * the means of one group would be more than `meansMax`, the numbers of the answer more than `numbersMax`,
   * or the series of all runs more than `seriesMax`. The caller owns the arrays.
   */
  readGroups(request: ReadGroups, signal?: AbortSignal): Promise<ReadGroupsResult>;
  /** Hosts in a namespace and below it, rising by namespace, then by name, in code points. */
  listHosts(page: PartBound & ListHosts): Promise<ListPart<Host>>;
}

/** The owner of a series: a run, or a machine in a namespace. */
export type SeriesOwner = RunOwner | HostOwner;

export interface RunOwner {
  runId: string;
  host?: undefined;
}

export interface HostOwner {
  host: HostName;
  runId?: undefined;
}

export interface ListHosts {
  /** "" for all. */
  under: string;
  /** The last host of the part before. */
  after: HostName | undefined;
  /** Those of namespaces in the trash, instead of the others. */
  trashed?: boolean;
}

/** A host exists as long as it has series: its first write creates it. */
export interface Host extends HostName {
  seriesCount: number;
  /** When the last envelope came, by the clock of the server. */
  writtenUs: number;
}

/** Where series are selected: of these runs and hosts, or everywhere the caller may read by `readable`, in a namespace and below. */
export type SeriesScope =
  | { owners: readonly SeriesOwner[] }
  | {
      /** "" for all. Runs in the trash are left out. */
      under: string;
      /** Whether series of hosts are included; absent means not. */
      hosts?: boolean;
      readable: ReadMask | undefined;
    };

export interface SeriesSelection {
  scope: SeriesScope;
  matchers: readonly Matcher[];
  lookMax: number;
}

export interface SelectSeries extends PartBound, SeriesSelection {
  pattern: KeyPattern | undefined;
  after: string | undefined;
  /** Of one run or host, count all that are selected: every page then looks at all of its series. */
  isCounted: boolean;
}

export interface SelectedSeries {
  series: OwnedSeries[];
  /** How many are selected; undefined where they are not counted, or belong to more than one run or host. */
  total: number | undefined;
  next: string | undefined;
}

export type OwnedSeries = SeriesInfo & SeriesOwner;

export interface ListLabels extends SeriesSelection {
  /** The label whose values are requested: "" for the key. undefined for the names of labels. */
  label: string | undefined;
  /** The last text of the part before. */
  after: string | undefined;
  limit: number;
}

export interface ListedLabels {
  texts: { text: string; seriesCount: number }[];
  /** Whether there are texts after these. */
  more: boolean;
  /** There were more series than were read. */
  truncated: boolean;
}

export interface DeleteSeries {
  owner: SeriesOwner;
  matchers: readonly Matcher[];
  axis: "step" | "time";
  /** Inclusive. Points without the axis are deleted only when both bounds are open. */
  from: number | undefined;
  to: number | undefined;
  after: string | undefined;
  pointsMax: number;
  seriesMax: number;
  /** Throws `precondition` (NOT_IN_TRASH) while the namespace of the host is outside the trash. */
  onlyTrashed?: boolean;
}

export interface DeletedSeries {
  /** Series that lost points. */
  series: number;
  points: number;
  next: string | undefined;
}

export interface ListMetricKeys {
  runId: string;
  /** From an earlier answer's `next`. */
  after: string | undefined;
  limit: number;
}

export interface ListedMetricKeys {
  keys: MetricKey[];
  next: string | undefined;
}

/** What some series of one run and key have in common. */
export interface MetricKey {
  key: string;
  seriesCount: number;
  hasLabels: boolean;
  /** Some of them are not texts. */
  hasNumbers: boolean;
  /** Points that restarts replaced. */
  replacedCount: number;
  /** The earliest time of a first point; undefined where none has one. */
  firstTimeUs: number | undefined;
}

/** RE2 syntax, searched anywhere in the key. A glob has been turned into one. */
export interface KeyPattern {
  regex: string;
}

export type SeriesSelector = SeriesOwner & SelectorParts;

interface SelectorParts {
  /** undefined selects every key. */
  key: string | undefined;
  /** undefined selects every label set. */
  labels: Labels | undefined;
  /** All of them select it, too. */
  matchers?: readonly Matcher[];
}

/** How much one answer may be; see core/series/read-budget.ts. */
export interface ReadBounds {
  /** A bucket counts as a point. */
  pointsMax: number;
  bytesMax: number;
  /** The size of one number in the encoding of the answer; texts cost their own length. */
  numberBytes: number;
}

export interface ReadSeries extends ReadBounds {
  selectors: readonly SeriesSelector[];
  axis: "step" | "time";
  /** Inclusive. Points without the axis are included only when both bounds are open. */
  from: number | undefined;
  to: number | undefined;
  /** 0 for every point. */
  buckets: number;
  includeReplaced: boolean;
  /** Only replaced points. */
  onlyReplaced: boolean;
}

export interface ReadSeriesResult {
  series: SeriesData[];
  /** Shared by all bands of this result; undefined when every series is exact. */
  grid: Grid | undefined;
}

/** Bucket b covers [start + b * width, start + (b + 1) * width). */
export interface Grid {
  start: number;
  width: number;
}

export type SeriesData = SeriesOwner & SeriesContent;

export interface SeriesContent {
  key: string;
  labels: Labels;
  kind: SeriesKind;
  /** All points in the range, also those behind a band. */
  pointCount: number;
  data: ExactData | BandData;
}

/** Ordered by the axis, then by arrival. Where only some points have a step or time, the others are NaN. */
export interface ExactData {
  form: "exact";
  points: Points;
  /** 1 for replaced points; only with includeReplaced. */
  replaced: Uint8Array | undefined;
}

/** Buckets that hold a point. Of the numbers in a bucket; NaN where it holds only NaN. */
export interface BandData {
  form: "band";
  bucket: Float64Array;
  count: Float64Array;
  min: Float64Array;
  max: Float64Array;
  /** By the axis, then by arrival; may be NaN. */
  first: Float64Array;
  last: Float64Array;
  mean: Float64Array;
  nanCount: Float64Array;
}

export interface ReadGroups {
  /** Ids of the runs of each group; none twice in one. */
  groups: readonly (readonly string[])[];
  /**
   * When each run of each group began, in microseconds: range, grid and times of its points are then since that
   * moment. Only with the axis of time; undefined for times as they are.
   */
  startsUs: readonly (readonly number[])[] | undefined;
  key: string;
  /** undefined takes the points of all label sets together. */
  labels: Labels | undefined;
  axis: "step" | "time";
  /** Inclusive. Points without the axis are never included. */
  from: number | undefined;
  to: number | undefined;
  /** At least 1. */
  buckets: number;
  /** Each from 0 to 1. */
  quantiles: readonly number[];
  meansMax: number;
  numbersMax: number;
  seriesMax: number;
}

export interface ReadGroupsResult {
  /** In the order of the request. */
  groups: GroupColumns[];
  /** undefined when no bound is given and there are no points. */
  grid: Grid | undefined;
}

/**
 * Buckets that hold a point of some run, rising. Of the means of the runs that have a number there; NaN
 * where none has.
 */
export interface GroupColumns {
  /** All points in the range, also NaN. */
  pointCount: number;
  bucket: Float64Array;
  /** Runs that have a number there. */
  count: Float64Array;
  mean: Float64Array;
  median: Float64Array;
  /** With n - 1 below; NaN for a single run. */
  std: Float64Array;
  stderr: Float64Array;
  min: Float64Array;
  max: Float64Array;
  /** One per requested quantile; linear between neighbours. */
  quantiles: Float64Array[];
}
