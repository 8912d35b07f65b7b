import { lowerBound } from "#base/lower-bound.ts";
import type { Points } from "../../../charts/lines/line.ts";

/**
 * The points of a zoomed part, with one point of the whole line on either side, so that a line with few points still
 * crosses the picture when none of them is in it.
 */
export function withNeighbours(part: Points, whole: Points): Points {
  // The last point before the part is needed, too; and without points inside, the whole line crosses it.
  if (whole.words !== undefined || part.x.length === 0) return whole;
  const left = lowerBound(whole.x, part.x[0]!) - 1;
  const end = part.x[part.x.length - 1]!;
  let right = lowerBound(whole.x, end);
  while (right < whole.x.length && whole.x[right]! <= end) right++;
  const joined = (of: (points: Points) => Float64Array): Float64Array => {
    const column = of(whole);
    const [before, after] = [column.subarray(Math.max(0, left), left + 1), column.subarray(right, right + 1)];
    const all = new Float64Array(before.length + part.x.length + after.length);
    all.set(before);
    all.set(of(part), before.length);
    all.set(after, before.length + part.x.length);
    return all;
  };
  const x = joined((points) => points.x);
  const nan = new Uint8Array(x.length);
  if (part.nan !== undefined) nan.set(part.nan, left < 0 ? 0 : 1);
  return {
    ...part,
    x,
    y: joined((points) => points.y),
    ...(part.low !== undefined && {
      low: joined(({ y, low = y }) => low),
      high: joined(({ y, high = y }) => high),
    }),
    ...((part.count ?? whole.count) !== undefined && {
      count: joined(({ x: { length }, count = new Float64Array(length).fill(1) }) => count),
    }),
    ...(part.nan !== undefined && { nan }),
  };
}
