import type { Direction } from "../types/namespace.ts";

/** The statistic of a run's metric that is its best value. */
export function bestStat(direction: Direction): "min" | "max" {
  return direction === "minimize" ? "min" : "max";
}

/** Whether `a` is better than `b`. NaN is better than no value and worse than every number. */
export function isBetter(a: number, b: number, direction: Direction): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(b) && !Number.isNaN(a);
  return direction === "minimize" ? a < b : a > b;
}
