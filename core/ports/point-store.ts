import type { Labels, Points, SeriesInfo, SeriesKind } from "../model/series.ts";

/**
 * Reads the points that a RunStore's `append` acknowledged. A read sees everything acknowledged
 * before it was called, and one consistent moment of each series.
 */
export interface PointStore {
  /**
   * Series of one run, rising by key, then by labels. `matches` is asked about each distinct key.
   * An unknown run has none. `after` is a position from an earlier answer's `next`.
   */
  listSeries(request: ListSeries): Promise<ListedSeries>;
  /**
   * Several series at once, in the order asked for; a selector that names nothing yields nothing.
   * Throws `exhausted` when more than `pointsMax` points would be returned. The caller owns the arrays.
   */
  readSeries(request: ReadSeries): Promise<ReadSeriesResult>;
}

export interface ListSeries {
  runId: string;
  pattern: KeyPattern | undefined;
  after: string | undefined;
  limit: number;
}

/** RE2 syntax, searched anywhere in the key. A glob has been turned into one. */
export interface KeyPattern {
  regex: string;
}

export interface ListedSeries {
  series: SeriesInfo[];
  total: number;
  next: string | undefined;
}

export interface SeriesSelector {
  runId: string;
  key: string;
  /** undefined selects every label set. */
  labels: Labels | undefined;
}

export interface ReadSeries {
  selectors: readonly SeriesSelector[];
  axis: "step" | "time";
  /** Inclusive. Points without the axis take part only when both bounds are open. */
  from: number | undefined;
  to: number | undefined;
  /** 0 for every point. */
  buckets: number;
  includeReplaced: boolean;
  pointsMax: number;
}

export interface ReadSeriesResult {
  series: SeriesData[];
  /** Shared by all envelopes of this result; undefined when every series is exact. */
  grid: Grid | undefined;
}

/** Bucket b covers [start + b * width, start + (b + 1) * width). */
export interface Grid {
  start: number;
  width: number;
}

export interface SeriesData {
  runId: string;
  key: string;
  labels: Labels;
  kind: SeriesKind;
  /** All points in the range, also those behind an envelope. */
  pointCount: number;
  data: ExactData | EnvelopeData;
}

/** Ordered by the axis, then by arrival. Where only some points have a step or time, the others are NaN. */
export interface ExactData {
  form: "exact";
  points: Points;
  /** 1 for replaced points; only with includeReplaced. */
  replaced: Uint8Array | undefined;
}

/** Buckets that hold a point. Of the numbers in a bucket; NaN where it holds only NaN. */
export interface EnvelopeData {
  form: "envelope";
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
