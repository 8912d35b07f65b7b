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
 * One value for each of `width` columns, from an answer in numbers. Of a band it is the mean, but an outlier takes its
 * place, so that a spike of a single point is seen. Columns without a point are NaN.
 */
export function sparkValues(data: SeriesData, width: number): number[] {
  if (data.form !== Form.BAND) return exactValues(data, width);
  const columns = Array.from({ length: width }, () => NaN);
  const [mean, mins, maxs] = [data.mean, data.min, data.max].map((column) => column?.numbers ?? []);
  const usual = OUTLIER * median(mins!.map((min, i) => maxs![i]! - min).filter(Number.isFinite));
  for (const [i, bucket] of (data.bucket?.numbers ?? []).entries()) {
    const [value, min, max] = [mean![i]!, mins![i]!, maxs![i]!];
    const isHigh = max - value > usual;
    const isLow = value - min > usual && value - min > max - value;
    columns[Math.min(width - 1, bucket)] = isLow ? min : isHigh ? max : value;
  }
  return columns;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function exactValues({ values }: SeriesData, width: number): number[] {
  const numbers = values?.numbers.length ? values.numbers : (values?.integers ?? []).map(Number);
  return numbers.slice(-width);
}
