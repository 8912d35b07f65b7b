/** Smoothed lines. NaN stays NaN and does not spread; the result is as long as the input. */
export type Smoothing =
  | { kind: "none" }
  /**
   * Exponential: 0 is the line itself, 0.99 very smooth. `weight` is that of the past per point, or per thousandth of a
   * line that has more points, so that one weight smooths short and long lines visibly.
   */
  | { kind: "ema"; weight: number }
  /** The same by distance on the x axis, so that a gap counts by its length; `weight` is for one `unit` of x. */
  | { kind: "time-ema"; weight: number; unit: number }
  | { kind: "mean"; window: number }
  | { kind: "gaussian"; sigma: number };

const SIGMAS = 3;
const STEPS_MAX = 1_000;

/**
 * `counts`: how many points each value of y is the mean of; absent for one each. A bucket counts as its points, so that
 * a smoothed line does not depend on the number of buckets. A window is as many values of y wide, whatever they count.
 */
export function smooth(
  x: Float64Array,
  y: Float64Array,
  how: Smoothing,
  counts?: Float64Array,
): Float64Array {
  const countAt = (i: number): number => counts?.[i] ?? 1;
  switch (how.kind) {
    case "none":
      return y;
    case "ema": {
      const { weight } = how;
      let points = 0;
      for (let i = 0; i < y.length; i++) points += countAt(i);
      const share = Math.min(1, STEPS_MAX / points);
      const keptAt = (i: number): number => weight ** (countAt(i) * share);
      // Each further point of a bucket makes those before it count less, too.
      return exponential(y, keptAt, (i) => (1 - keptAt(i)) / (1 - weight));
    }
    case "time-ema": {
      const { weight, unit } = how;
      return exponential(y, (i, last) => weight ** Math.max(0, (x[i]! - x[last]!) / unit), countAt);
    }
    case "mean":
      return weighted(y, Math.max(0, Math.floor(how.window / 2)), () => 1, countAt);
    case "gaussian": {
      const radius = Math.ceil(SIGMAS * how.sigma);
      const weightAt = (distance: number): number =>
        Math.exp(-(distance * distance) / (2 * how.sigma * how.sigma));
      return weighted(y, radius, weightAt, countAt);
    }
  }
}

/**
 * A mean of everything so far in which a value counts less the longer ago it was: it begins where the line does.
 * `weightAt`: what is left of the past at a value; `gainAt`: how much the value itself counts.
 */
function exponential(
  y: Float64Array,
  weightAt: (i: number, last: number) => number,
  gainAt: (i: number) => number,
): Float64Array {
  const out = new Float64Array(y.length);
  let sum = 0;
  let total = 0;
  let last = -1;
  for (let i = 0; i < y.length; i++) {
    const value = y[i]!;
    if (!Number.isFinite(value)) {
      out[i] = value;
      continue;
    }
    const weight = last < 0 ? 0 : weightAt(i, last);
    const gain = gainAt(i);
    sum = sum * weight + value * gain;
    total = total * weight + gain;
    out[i] = sum / total;
    last = i;
  }
  return out;
}

function weighted(
  y: Float64Array,
  radius: number,
  weightAt: (distance: number) => number,
  countAt: (i: number) => number,
): Float64Array {
  const weights = Float64Array.from({ length: radius + 1 }, (_, distance) => weightAt(distance));
  const out = new Float64Array(y.length);
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]!)) {
      out[i] = y[i]!;
      continue;
    }
    let sum = 0;
    let total = 0;
    const to = Math.min(y.length - 1, i + radius);
    for (let j = Math.max(0, i - radius); j <= to; j++) {
      const value = y[j]!;
      if (!Number.isFinite(value)) continue;
      const weight = weights[Math.abs(i - j)]! * countAt(j);
      sum += value * weight;
      total += weight;
    }
    out[i] = sum / total;
  }
  return out;
}
