import type { Points } from "./line.ts";

export type Reduction = "mean" | "min" | "max" | "p95";

/**
 * Many lines as one, on the x they share: of several at the same x, the mean, smallest, largest or 95th
 * percentile of their numbers (of buckets: of their means). A line without a number there is ignored; where none has
 * one the result is NaN.
 */
export function reduceLines(lines: readonly Points[], how: Reduction): Points {
  const places = new Map<number, number>();
  for (const { x } of lines) for (const at of x) places.set(at, 0);
  const x = Float64Array.from(places.keys()).sort();
  for (let i = 0; i < x.length; i++) places.set(x[i]!, i);
  const y = new Float64Array(x.length).fill(Number.NaN);
  const low = new Float64Array(x.length).fill(Infinity);
  const high = new Float64Array(x.length).fill(-Infinity);
  const count = new Float64Array(x.length);
  const all = how === "p95" ? Array.from(x, (): number[] => []) : undefined;
  for (const line of lines) {
    for (let i = 0; i < line.x.length; i++) {
      const value = line.y[i]!;
      if (Number.isNaN(value)) continue;
      const k = places.get(line.x[i]!)!;
      const { low: down = line.y, high: up = line.y } = line;
      low[k] = Math.min(low[k]!, down[i]!);
      high[k] = Math.max(high[k]!, up[i]!);
      y[k] = (count[k] === 0 ? 0 : y[k]!) + value;
      count[k]!++;
      all?.[k]!.push(value);
    }
  }
  for (let k = 0; k < x.length; k++) {
    if (count[k] === 0) low[k] = high[k] = Number.NaN;
    else if (all !== undefined) y[k] = percentile(all[k]!, 0.95);
    else y[k] = how === "mean" ? y[k]! / count[k]! : how === "min" ? low[k]! : high[k]!;
  }
  return {
    x,
    y,
    low,
    high,
    exact: false,
    pointCount: lines.reduce((sum, line) => sum + line.pointCount, 0),
    unplacedCount: lines.reduce((sum, line) => sum + line.unplacedCount, 0),
  };
}

/** Linear between neighbours, like the server's quantiles. */
function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  const place = share * (values.length - 1);
  const [low, high] = [values[Math.floor(place)]!, values[Math.ceil(place)]!];
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

export type Spread = "std" | "stderr" | "minmax" | "ci95";
export type Middle = "mean" | "median";

/** Quantiles of Student's t at 97.5 % for 1 to 30 degrees of freedom; above that a normal one is close enough. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
] as const;

/** How far from the mean 95 % of such means lie, in standard errors of `count` runs. NaN for a single one. */
export function interval95(count: number): number {
  if (count < 2) return Number.NaN;
  return T_975[count - 2] ?? 1.96;
}

export interface GroupColumns {
  readonly count: Float64Array;
  readonly middle: Float64Array;
  readonly std: Float64Array;
  readonly stderr: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** The band around the middle of a group. A single run has none: there it is the middle itself. */
export function bandOf(group: GroupColumns, spread: Spread): { low: Float64Array; high: Float64Array } {
  if (spread === "minmax") return { low: group.min, high: group.max };
  const low = new Float64Array(group.middle.length);
  const high = new Float64Array(group.middle.length);
  for (let i = 0; i < low.length; i++) {
    const reach =
      spread === "std"
        ? group.std[i]!
        : group.stderr[i]! * (spread === "ci95" ? interval95(group.count[i]!) : 1);
    const width = Number.isNaN(reach) ? 0 : reach;
    low[i] = group.middle[i]! - width;
    high[i] = group.middle[i]! + width;
  }
  return { low, high };
}
