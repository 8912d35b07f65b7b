/** Group statistics straight from the points, in the simplest form. Engines are compared with them. */
import type { GroupColumns, Grid, ReadGroups } from "#core/ports/point-store.ts";
import type { NaiveSeries } from "./naive-series.ts";

/** All label sets of one run. */
export type NaiveRun = readonly NaiveSeries[];

type Range = Pick<ReadGroups, "axis" | "from" | "to">;

interface Place {
  at: number;
  value: number;
}

/** The points of a run that count, including NaN. */
function placesOf(run: NaiveRun, { axis, from, to }: Range): Place[] {
  return run.flatMap((series) =>
    series.places({ axis, from, to, includeReplaced: false, onlyReplaced: false }).flatMap((place) => {
      const point = series.points[place]!;
      const at = axis === "step" ? point.step : point.timeUs;
      return at === undefined ? [] : [{ at, value: series.numberAt(place) }];
    }),
  );
}

/** Over the bounds given, and where they are open over the points of all groups. */
export function naiveGrid(runs: readonly NaiveRun[], request: Range & { buckets: number }): Grid | undefined {
  const { axis, from, to, buckets } = request;
  const positions = runs.flat().flatMap((series) =>
    series.points.flatMap((point, place) => {
      // Of times, replaced points count as well.
      if (axis === "step") return series.isReplaced(place) ? [] : [point.step];
      return [point.timeUs];
    }),
  );
  const known = positions.filter((position) => position !== undefined);
  const low = from ?? Math.min(...known);
  const high = to ?? Math.max(...known);
  if (!(low <= high) || !Number.isFinite(high - low)) return undefined;
  return { start: low, width: Math.max(1, (high - low + 1) / buckets) };
}

export function naiveGroup(
  runs: readonly NaiveRun[],
  grid: Grid,
  request: Range & { buckets: number; quantiles: readonly number[] },
): GroupColumns {
  const points = runs.map((run) => placesOf(run, request));
  const bucketOf = ({ at }: Place) => {
    let bucket = 0;
    while (bucket < request.buckets - 1 && at >= grid.start + (bucket + 1) * grid.width) bucket++;
    return bucket;
  };
  const buckets = [...new Set(points.flat().map(bucketOf))].sort((a, b) => a - b);
  const rows = buckets.map((bucket) =>
    points.flatMap((own) => {
      const numbers = own
        .filter((point) => bucketOf(point) === bucket && !Number.isNaN(point.value))
        .map(({ value }) => value);
      return numbers.length === 0 ? [] : [mean(numbers)];
    }),
  );
  const column = (of: (values: number[]) => number) => Float64Array.from(rows, of);
  return {
    pointCount: points.flat().length,
    bucket: Float64Array.from(buckets),
    count: column((values) => values.length),
    mean: column(mean),
    median: column((values) => quantile(values, 0.5)),
    std: column(deviation),
    stderr: column((values) => deviation(values) / Math.sqrt(values.length)),
    min: column((values) => quantile(values, 0)),
    max: column((values) => quantile(values, 1)),
    quantiles: request.quantiles.map((q) => column((values) => quantile(values, q))),
  };
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values: number[]): number {
  const squares = values.map((value) => (value - mean(values)) ** 2);
  return Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / (values.length - 1));
}

/** numpy's default, but with weights where its difference is infinite: that would make NaN of -Infinity and 1. */
function quantile(values: number[], q: number): number {
  if (values.length === 0 || values.some(Number.isNaN)) return NaN;
  const sorted = values.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  const place = q * (sorted.length - 1);
  const share = place - Math.floor(place);
  const [a, b] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  if (a === b) return a;
  return Number.isFinite(b - a) ? a + (b - a) * share : a * (1 - share) + b * share;
}
