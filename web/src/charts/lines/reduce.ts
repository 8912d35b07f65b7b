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
