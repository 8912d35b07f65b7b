import { columnsOf } from "../lines/columns.ts";
import { linearScale } from "#lang/ticks/scale.ts";

/**
 * A small line as the `d` of an SVG path: the whole of `values` in width × height, spikes kept. Empty when there is
 * nothing to draw. Points without a number are gaps.
 */
export function sparklinePath(
  values: ArrayLike<number>,
  width: number,
  height: number,
  x?: ArrayLike<number>,
): string {
  const y = Float64Array.from(values);
  const at = x === undefined ? Float64Array.from(y, (_, i) => i) : Float64Array.from(x);
  const finite = y.filter((value) => Number.isFinite(value));
  if (finite.length === 0) return "";
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const across = linearScale(at[0]!, at[at.length - 1]!, 1, width - 1);
  const up = linearScale(low, high, height - 1, 1);
  const { size, pixel, first, low: lows, high: highs, last } = columnsOf(at, y, across);
  const parts: string[] = [];
  let pen = "M";
  for (let i = 0; i < size; i++) {
    if (Number.isNaN(first[i]!)) {
      pen = "M";
      continue;
    }
    const strokes = lows[i] === highs[i] ? [first[i]!] : [first[i]!, lows[i]!, highs[i]!, last[i]!];
    for (const value of strokes) {
      parts.push(`${pen}${pixel[i]!.toFixed(1)} ${up.toPlace(value).toFixed(1)}`);
      pen = "L";
    }
  }
  return parts.join("");
}
