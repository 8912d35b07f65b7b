/** Reads the answers of ReadSeries and ReadGroups. */
import {
  Axis,
  Form,
  SeriesKind,
  type Column,
  type GroupData,
  type SeriesData,
} from "#proto/cairn/v1/metric_pb.ts";

/** What a chart draws of a line: points, or buckets with all their points. All columns are equally long. */
export interface Marks {
  /** Rising. */
  readonly x: Float64Array;
  /** The least and the largest number there; NaN where there is none. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** The values the line enters and leaves with; NaN breaks it. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly mean: Float64Array;
  /** Points behind the mark, NaN among them. */
  readonly count: Float64Array;
  /** From the beginning of the first bucket to the end of the last; absent for points. */
  readonly span?: Extent;
}

export interface Extent {
  min: number;
  max: number;
}

/** The marks of one series of an answer. */
export interface SeriesMarks extends Marks {
  /** They are points, not buckets. */
  readonly exact: boolean;
  /** How many of the points behind the mark are NaN. */
  readonly nan: Float64Array;
  readonly pointCount: number;
  /** Points that the axis cannot show, for example without a step. */
  readonly unplacedCount: number;
}

export interface Grid {
  readonly gridStart: number;
  readonly gridWidth: number;
}

const EMPTY = new Float64Array(0);

/** Doubles of a column; a copy only if they are not aligned to 8 bytes. */
export function doublesOf(column: Column | undefined): Float64Array {
  if (column === undefined) return EMPTY;
  const { bytes } = column;
  if (bytes.byteOffset % 8 === 0) return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  return new Float64Array(new Uint8Array(bytes).buffer);
}

/** The values of a series of numbers, integers or bools as doubles. */
export function valuesOf({ values, kind }: Pick<SeriesData, "values" | "kind">): Float64Array {
  if (values === undefined) return EMPTY;
  if (kind === SeriesKind.BOOL) return Float64Array.from(values.bytes);
  if (kind !== SeriesKind.INTEGER) return doublesOf(values);
  return Float64Array.from(new BigInt64Array(new Uint8Array(values.bytes).buffer), Number);
}

/** Marks that are single points. */
export function pointMarks(x: Float64Array, values: Float64Array): Marks {
  return {
    x,
    low: values,
    high: values,
    first: values,
    last: values,
    mean: values,
    count: new Float64Array(x.length).fill(1),
  };
}

/** `originUs` is subtracted from times. Points that the axis cannot show are only counted, and texts are NaN. */
export function seriesMarks(data: SeriesData, axis: Axis, grid: Grid, originUs = 0): SeriesMarks {
  const pointCount = Number(data.pointCount);
  if (data.form === Form.BAND) {
    const count = doublesOf(data.count);
    const placed = count.reduce((sum, each) => sum + each, 0);
    return {
      ...bucketPlaces(data.bucket, grid, originUs),
      low: doublesOf(data.min),
      high: doublesOf(data.max),
      first: doublesOf(data.first),
      last: doublesOf(data.last),
      mean: doublesOf(data.mean),
      count,
      exact: false,
      nan: doublesOf(data.nanCount),
      pointCount,
      unplacedCount: Math.max(0, pointCount - placed),
    };
  }
  const places = doublesOf(axis === Axis.TIME ? data.timesUs : data.steps);
  // Points that the axis cannot show come last.
  let size = places.length;
  while (size > 0 && Number.isNaN(places[size - 1]!)) size--;
  const x = moved(places.subarray(0, size), originUs);
  const values = data.kind === SeriesKind.TEXT ? x.map(() => Number.NaN) : valuesOf(data).subarray(0, size);
  return {
    ...pointMarks(x, values),
    exact: true,
    nan: values.map((value) => Number(Number.isNaN(value))),
    pointCount,
    unplacedCount: Math.max(0, pointCount - size),
  };
}

/** How many numbers each mean is of: as many points a smoothed line counts it as. */
export function numberCounts({ count, nan }: SeriesMarks): Float64Array {
  return count.map((points, i) => points - nan[i]!);
}

/** A bucket of whole steps contains gridWidth of them, the first at its beginning; its x is in the middle of them. */
function bucketPlaces(
  column: Column | undefined,
  { gridStart, gridWidth }: Grid,
  originUs = 0,
): Pick<Marks, "x" | "span"> {
  const starts = doublesOf(column).map((bucket) => gridStart + bucket * gridWidth - originUs);
  const middle = Math.max(0, gridWidth - 1) / 2;
  const x = starts.map((start) => start + middle);
  if (starts.length === 0) return { x };
  return { x, span: { min: starts[0]!, max: starts.at(-1)! + gridWidth - Math.min(1, gridWidth) } };
}

function moved(x: Float64Array, origin: number): Float64Array {
  return origin === 0 ? x : x.map((at) => at - origin);
}

/** Statistics over the runs of a group, per bucket. */
export interface GroupMarks extends Pick<Marks, "x" | "span"> {
  /** How many runs take part. */
  readonly count: Float64Array;
  readonly mean: Float64Array;
  readonly median: Float64Array;
  readonly std: Float64Array;
  readonly stderr: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

export function groupMarks(data: GroupData, grid: Grid): GroupMarks {
  return {
    ...bucketPlaces(data.bucket, grid),
    count: doublesOf(data.count),
    mean: doublesOf(data.mean),
    median: doublesOf(data.median),
    std: doublesOf(data.std),
    stderr: doublesOf(data.stderr),
    min: doublesOf(data.min),
    max: doublesOf(data.max),
  };
}

export type Spread = "std" | "stderr" | "minmax" | "ci95";
export type Middle = "mean" | "median";

/** Quantiles of Student's t at 97.5 % for 1 to 30 degrees of freedom; above that a normal one is close enough. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
] as const;

/** How far from the mean 95 % of such means lie, in standard errors of `count` runs. NaN for a single one. */
export function interval95(count: number): number {
  if (count < 2) return Number.NaN;
  return T_975[count - 2] ?? 1.96;
}

/** The band around the middle of a group. A single run has none: there it is the middle itself. */
export function bandOf(
  group: GroupMarks,
  middle: Middle,
  spread: Spread,
): { low: Float64Array; high: Float64Array } {
  if (spread === "minmax") return { low: group.min, high: group.max };
  const reach =
    spread === "std"
      ? group.std
      : group.stderr.map((error, i) => error * (spread === "ci95" ? interval95(group.count[i]!) : 1));
  const width = reach.map((each) => (Number.isNaN(each) ? 0 : each));
  return {
    low: group[middle].map((value, i) => value - width[i]!),
    high: group[middle].map((value, i) => value + width[i]!),
  };
}

/** Such as "rank=3", by name; empty without labels. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${labels[name]}`)
    .join(" ");
}
