import { lowerBound } from "#base/lower-bound.ts";
import type { Scale } from "#lang/ticks/scale.ts";

/**
 * What is drawn of a line, one entry per column of pixels: the value it enters with, its smallest and largest value,
 * and the one it leaves with. Ten million points make no more entries than the chart has columns, and a spike of a
 * single point is still as high as it was. A gap is an entry of NaN.
 */
export interface Columns {
  readonly size: number;
  readonly pixel: Float64Array;
  readonly first: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly last: Float64Array;
}

export function columnsOf(
  x: Float64Array,
  y: Float64Array,
  scale: Scale,
  lows: Float64Array = y,
  highs: Float64Array = y,
): Columns {
  // One neighbour on either side, so that lines reach the edge.
  const begin = Math.max(0, lowerBound(x, scale.from) - 1);
  const beyond = lowerBound(x, scale.to);
  let end = beyond;
  while (end < x.length && x[end] === scale.to) end++;
  if (end < x.length) end++;
  const room = Math.min(end - begin, 2 * (Math.abs(scale.end - scale.start) + 4)) + 1;
  const pixel = new Float64Array(room);
  const first = new Float64Array(room);
  const low = new Float64Array(room);
  const high = new Float64Array(room);
  const last = new Float64Array(room);
  let size = 0;
  let column = Number.NaN;
  let gap = true;
  for (let i = begin; i < end; i++) {
    const value = y[i]!;
    if (!Number.isFinite(value)) {
      // Still the same column: only gaps between columns are visible.
      gap = true;
      continue;
    }
    const at = clamp(scale.toPlace(x[i]!), scale);
    if (Number.isNaN(at)) continue;
    const here = Math.floor(at);
    const down = finiteOr(lows[i]!, value);
    const up = finiteOr(highs[i]!, value);
    if (here === column) {
      const k = size - 1;
      if (down < low[k]!) low[k] = down;
      if (up > high[k]!) high[k] = up;
      last[k] = value;
      gap = false;
      continue;
    }
    if (gap && size > 0) {
      pixel[size] = at;
      first[size] = low[size] = high[size] = last[size] = Number.NaN;
      size++;
    }
    pixel[size] = at;
    first[size] = last[size] = value;
    low[size] = down;
    high[size] = up;
    size++;
    column = here;
    gap = false;
  }
  return { size, pixel, first, low, high, last };
}

/** Far coordinates are drawn wrongly by a canvas; one screen outside is enough. */
function clamp(pixel: number, { start, end }: Scale): number {
  const room = Math.abs(end - start) + 1;
  return Math.min(Math.max(start, end) + room, Math.max(Math.min(start, end) - room, pixel));
}

function finiteOr(value: number, otherwise: number): number {
  return Number.isFinite(value) ? value : otherwise;
}
