import { lowerBound } from "#base/lower-bound.ts";

/**
 * Points of one line by rising x. Exact: `y` is what was logged. A band: `y` is the mean of a bucket, and `low`
 * and `high` are the smallest and largest number in it, so that no spike is lost.
 */
export interface Points {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly low?: Float64Array;
  readonly high?: Float64Array;
  /** How many numbers each `y` is the mean of; absent for one each. */
  readonly count?: Float64Array;
  /** 1 where a bucket contains values that are not numbers. Only for bands; exact points have it in `y`. */
  readonly nan?: Uint8Array;
  /** For a series of texts: the text at each x; `y` is then its index in `words`. */
  readonly words?: readonly string[];
  readonly exact: boolean;
  /** How many points this stands for. */
  readonly pointCount: number;
  /** Points that cannot be shown on this axis, for example without a step. */
  readonly unplacedCount: number;
}

export interface Line extends Points {
  /** Unique in the chart. */
  readonly id: string;
  /** Lines of one run are highlighted together. */
  readonly runId: string;
  readonly name: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly bold?: boolean;
  /** Points that a restart replaced, drawn behind the others. */
  readonly faded?: boolean;
}

/** The index whose x is nearest; -1 without points. Of two at the same distance the earlier one. */
export function nearestIndex(x: Float64Array, value: number): number {
  if (x.length === 0) return -1;
  const right = lowerBound(x, value);
  if (right === 0) return 0;
  if (right === x.length) return right - 1;
  return value - x[right - 1]! <= x[right]! - value ? right - 1 : right;
}

/** First and last x of all lines; undefined when no line has a point. */
export function extentOfX(lines: readonly Points[]): [number, number] | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const { x } of lines) {
    if (x.length === 0) continue;
    from = Math.min(from, x[0]!);
    to = Math.max(to, x[x.length - 1]!);
  }
  return from <= to ? [from, to] : undefined;
}
