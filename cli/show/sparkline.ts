import { doublesOf, valuesOf } from "#sdk/series.ts";
import { Form, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";

const BARS = "▁▂▃▄▅▆▇█";

/** Values as a line of bars, one column each; a gap where there is no number. */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low;
  return values
    .map((value) => {
      if (Number.isNaN(value)) return " ";
      if (!Number.isFinite(value)) return value > 0 ? BARS.at(-1)! : BARS[0]!;
      const share = span > 0 && Number.isFinite(span) ? (value - low) / span : 0.5;
      return BARS[Math.min(BARS.length - 1, Math.floor(share * BARS.length))]!;
    })
    .join("");
}

/** An extreme is shown when it is so many times as far from its mean as the usual spread of a bucket. */
const OUTLIER = 3;

/**
 * One value for each of `width` columns. Of a band it is the mean, but an outlier takes its
 * place, so that a spike of a single point is seen. Columns without a point are NaN.
 */
export function sparkValues(data: SeriesData, width: number): number[] {
  if (data.form !== Form.BAND) return Array.from(valuesOf(data).subarray(-width));
  const columns = Array.from({ length: width }, () => NaN);
  const [mean, mins, maxs] = [doublesOf(data.mean), doublesOf(data.min), doublesOf(data.max)];
  const usual = OUTLIER * median(mins.map((min, i) => maxs[i]! - min).filter(Number.isFinite));
  for (const [i, bucket] of doublesOf(data.bucket).entries()) {
    const [value, min, max] = [mean[i]!, mins[i]!, maxs[i]!];
    const isHigh = max - value > usual;
    const isLow = value - min > usual && value - min > max - value;
    columns[Math.min(width - 1, bucket)] = isLow ? min : isHigh ? max : value;
  }
  return columns;
}

function median(values: Float64Array): number {
  const sorted = values.toSorted();
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
