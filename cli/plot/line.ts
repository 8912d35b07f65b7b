import type { Extent, Marks } from "#sdk/series.ts";

/** One line of a chart, with the words that say what it is. */
export interface Line {
  name: string;
  marks: Marks;
  /** Such as "exact, 300 points" or "band of 100,000 points". */
  form: string;
  /** Around `marks.mean`, for groups of runs. */
  band?: { readonly low: Float64Array; readonly high: Float64Array } | undefined;
  /** Drawn instead of the marks, which stay behind it. */
  smooth?: Float64Array | undefined;
  /** Points that cannot be drawn, such as "3 NaN"; empty when all could. */
  missing: string;
}

/** From the least to the largest finite number; undefined when there is none. */
export function extentOf(
  columns: Iterable<Iterable<number>>,
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
export function drawnColumns({ marks, band, smooth }: Line, behind: boolean): readonly Float64Array[] {
  if (band !== undefined) return [marks.mean, band.low, band.high];
  if (smooth !== undefined) return behind ? [smooth, marks.low, marks.high] : [smooth];
  return [marks.low, marks.high];
}
