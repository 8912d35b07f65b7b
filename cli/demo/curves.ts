import type { Random } from "./random.ts";

export interface LossShape {
  start: number;
  floor: number;
  /** Steps after which the larger part is learnt. */
  pace: number;
  /** Relative noise of single batches. */
  noise: number;
}

/** A loss as training jobs show it: a power law that flattens, with noise that shrinks along. */
export function lossAt(step: number, { start, floor, pace, noise }: LossShape, random: Random): number {
  const clean = floor + (start - floor) * (1 + step / pace) ** -1.3;
  return Math.max(floor * 0.6, clean * (1 + noise * random.normal()));
}

/** A share of one that rises towards `best`. */
export function scoreAt(step: number, best: number, pace: number, noise: number, random: Random): number {
  const clean = best * (1 - Math.exp(-step / pace));
  return Math.min(0.9999, Math.max(0, clean + noise * random.normal()));
}

/** Warm up, then fall along a cosine. */
export function learningRateAt(step: number, steps: number, peak: number, warmup: number): number {
  if (step < warmup) return (peak * (step + 1)) / warmup;
  return peak * 0.5 * (1 + Math.cos((Math.PI * (step - warmup)) / Math.max(1, steps - warmup)));
}

export function stepsOf(count: number, every = 1, from = 0): number[] {
  return Array.from({ length: count }, (_, i) => from + i * every);
}
