/** The marks of a line: each is one point, or the bucket of a band with all its points. */
export interface Marks {
  /** Rising. All columns are equally long. */
  readonly x: readonly number[];
  /** The least and the largest number there; NaN where there is none. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The values the line enters and leaves with; NaN breaks it. */
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly mean: readonly number[];
  /** Points behind the mark, NaN among them. */
  readonly count: readonly number[];
  /** From the beginning of the first bucket to the end of the last; absent for points. */
  readonly span?: Extent;
}

/** One line of a chart, with the words that say what it is. */
export interface Line {
  name: string;
  marks: Marks;
  /** Such as "exact, 300 points" or "band of 100,000 points". */
  form: string;
  /** Around `marks.mean`, for groups of runs. */
  band?: { readonly low: readonly number[]; readonly high: readonly number[] } | undefined;
  /** Drawn instead of the marks, which stay behind it. */
  smooth?: readonly number[] | undefined;
  /** Points that cannot be drawn, such as "3 NaN"; empty when all could. */
  missing: string;
}

/** Marks that are single points. */
export function pointMarks(x: readonly number[], values: readonly number[]): Marks {
  return {
    x,
    low: values,
    high: values,
    first: values,
    last: values,
    mean: values,
    count: Array.from(values, () => 1),
  };
}

/**
 * Exponential smoothing that begins at the first value and gives it no more weight than the others: `weight` of
 * the past per point, so that a bucket of n points counts as n of them. NaN stays NaN and is skipped.
 */
export function smoothed({ mean, count }: Marks, weight: number): number[] {
  let sum = 0;
  let total = 0;
  return mean.map((value, i) => {
    if (!Number.isFinite(value)) return NaN;
    const past = weight ** Math.max(1, count[i]!);
    sum = past * sum + (1 - past) * value;
    total = past * total + (1 - past);
    return total === 0 ? value : sum / total;
  });
}

export interface Extent {
  min: number;
  max: number;
}

/** From the least to the largest finite number; undefined when there is none. */
export function extentOf(
  columns: Iterable<readonly number[]>,
  keep: (value: number) => boolean = Number.isFinite,
): Extent | undefined {
  let min = Infinity;
  let max = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (!keep(value)) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return min <= max ? { min, max } : undefined;
}

/** What is drawn of a line, for the range of the axis. */
export function drawnColumns({ marks, band, smooth }: Line, behind: boolean): readonly (readonly number[])[] {
  if (band !== undefined) return [marks.mean, band.low, band.high];
  if (smooth !== undefined) return behind ? [smooth, marks.low, marks.high] : [smooth];
  return [marks.low, marks.high];
}
