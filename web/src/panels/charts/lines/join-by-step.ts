import { Form, SeriesKind, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { doublesOf, valuesOf, type Grid } from "#sdk/series.ts";
import type { Points } from "../../../charts/lines/line.ts";
import { placesOfWords } from "./series-points.ts";

/**
 * One metric over another: a point is at the last value of the other metric at the same step. Where one of them has too
 * many points to be exact, both are joined by the buckets of their shared grid instead: a point is then at the mean of
 * the other metric in its bucket, and is not called exact. Points without a partner are counted, not drawn. Lines are
 * sorted by x, then by step.
 */
export function joinBySteps(data: SeriesData, other: SeriesData | undefined, grid: Grid): Points {
  const pointCount = Number(data.pointCount);
  const placeAt = other === undefined ? () => undefined : placesBy(other, data.form, grid);
  const isExact = data.form === Form.EXACT && other?.form !== Form.BAND;
  const steps = data.form === Form.EXACT ? doublesOf(data.steps) : doublesOf(data.bucket);
  const counts = data.form === Form.EXACT ? undefined : doublesOf(data.count);
  const places: { at: number; row: number }[] = [];
  let paired = 0;
  for (let row = 0; row < steps.length; row++) {
    const at = placeAt(steps[row]!);
    if (at === undefined || !Number.isFinite(at)) continue;
    places.push({ at, row });
    paired += counts?.[row] ?? 1;
  }
  places.sort((a, b) => a.at - b.at || a.row - b.row);
  const pick = (column: Float64Array): Float64Array => Float64Array.from(places, ({ row }) => column[row]!);
  const common = {
    x: Float64Array.from(places, ({ at }) => at),
    exact: isExact,
    pointCount,
    unplacedCount: Math.max(0, pointCount - paired),
  };
  if (data.form === Form.EXACT) {
    if (data.kind !== SeriesKind.TEXT) return { ...common, y: pick(valuesOf(data)) };
    const { places: heights, words } = placesOfWords(data.texts);
    return { ...common, y: pick(heights), words };
  }
  const nans = doublesOf(data.nanCount);
  return {
    ...common,
    count: Float64Array.from(places, ({ row }) => counts![row]! - nans[row]!),
    y: pick(doublesOf(data.mean)),
    low: pick(doublesOf(data.min)),
    high: pick(doublesOf(data.max)),
    nan: Uint8Array.from(places, ({ row }) => Number(nans[row]! > 0)),
  };
}

/** The value of the other metric at a step or, depending on `form`, in a bucket. */
function placesBy(other: SeriesData, form: Form, grid: Grid): (at: number) => number | undefined {
  const bucketOf = (step: number): number => Math.floor((step - grid.gridStart) / grid.gridWidth);
  if (other.form === Form.BAND) {
    const buckets = doublesOf(other.bucket);
    const means = doublesOf(other.mean);
    const known = new Map(Array.from(buckets, (bucket, i) => [bucket, means[i]!]));
    return form === Form.BAND ? (bucket) => known.get(bucket) : (step) => known.get(bucketOf(step));
  }
  const steps = doublesOf(other.steps);
  const values = other.kind === SeriesKind.TEXT ? new Float64Array(0) : valuesOf(other);
  if (form === Form.EXACT) {
    const known = new Map(Array.from(values, (value, i) => [steps[i]!, value]));
    return (step) => known.get(step);
  }
  const sums = new Map<number, { sum: number; count: number }>();
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]!) || Number.isNaN(steps[i]!)) continue;
    const bucket = bucketOf(steps[i]!);
    const { sum, count } = sums.get(bucket) ?? { sum: 0, count: 0 };
    sums.set(bucket, { sum: sum + values[i]!, count: count + 1 });
  }
  return (bucket) => {
    const found = sums.get(bucket);
    return found && found.sum / found.count;
  };
}
