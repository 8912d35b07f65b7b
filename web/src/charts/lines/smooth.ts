/** Smoothed lines. NaN stays NaN and does not spread; the result is as long as the input. */
export type Smoothing =
  | { kind: "none" }
  /** Exponential: 0 is the line itself, 0.99 very smooth. */
  | { kind: "ema"; weight: number }
  /** The same by distance on the x axis, so that a gap counts by its length; `weight` is for one `unit` of x. */
  | { kind: "time-ema"; weight: number; unit: number }
  | { kind: "mean"; window: number }
  | { kind: "gaussian"; sigma: number };

const SIGMAS = 3;

export function smooth(x: Float64Array, y: Float64Array, how: Smoothing): Float64Array {
  switch (how.kind) {
    case "none":
      return y;
    case "ema":
      return exponential(y, () => how.weight);
    case "time-ema":
      return exponential(y, (i, last) => how.weight ** Math.max(0, (x[i]! - x[last]!) / how.unit));
    case "mean":
      return weighted(y, Math.max(0, Math.floor(how.window / 2)), () => 1);
    case "gaussian": {
      const radius = Math.ceil(SIGMAS * how.sigma);
      return weighted(y, radius, (distance) =>
        Math.exp(-(distance * distance) / (2 * how.sigma * how.sigma)),
      );
    }
  }
}

/** A mean of everything so far in which a value counts less the longer ago it was: it begins where the line does. */
function exponential(y: Float64Array, weightAt: (i: number, last: number) => number): Float64Array {
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
    sum = sum * weight + value;
    total = total * weight + 1;
    out[i] = sum / total;
    last = i;
  }
  return out;
}

function weighted(y: Float64Array, radius: number, weightAt: (distance: number) => number): Float64Array {
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
      const weight = weights[Math.abs(i - j)]!;
      sum += value * weight;
      total += weight;
    }
    out[i] = sum / total;
  }
  return out;
}
