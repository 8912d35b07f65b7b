import { lowerBound } from "#base/lower-bound.ts";
import type { Points } from "./line.ts";

const ROOM = 0.04;
/** Values outside of these quantiles may be outliers. */
const CLIP_SHARE = 0.01;
/** Clipping begins where outliers would make the rest this much smaller. */
const CLIP_FACTOR = 2;
const SAMPLE_MAX = 20_000;

export interface RangeOptions {
  /** Only the visible part counts. */
  from: number;
  to: number;
  log: boolean;
  /** Leave out outliers. */
  clip: boolean;
  /** No margin beyond the lowest and the highest value, where they are shown as numbers. */
  tight?: boolean;
}

export interface ValueRange {
  from: number;
  to: number;
  /** Values were clipped. */
  clipped: boolean;
}

/** From the lowest to the highest value shown, with a little room unless it is tight; undefined when there is no number. */
export function valueRange(lines: readonly Points[], options: RangeOptions): ValueRange | undefined {
  const { log } = options;
  let from = Infinity;
  let to = -Infinity;
  const values: number[] = [];
  let shown = 0;
  for (const line of lines) {
    const [begin, end] = shownPart(line, options);
    shown += end - begin;
  }
  const every = Math.max(1, Math.ceil(shown / SAMPLE_MAX));
  let seen = 0;
  for (const line of lines) {
    const [begin, end] = shownPart(line, options);
    const { y, low = y, high = y } = line;
    for (let i = begin; i < end; i++) {
      const down = low[i]!;
      const up = high[i]!;
      if (Number.isFinite(down) && (!log || down > 0) && down < from) from = down;
      if (Number.isFinite(up) && (!log || up > 0) && up > to) to = up;
      if (up > 0 && log && up < from) from = up;
      if (options.clip && seen++ % every === 0 && Number.isFinite(y[i]!) && (!log || y[i]! > 0))
        values.push(y[i]!);
    }
  }
  if (!(from <= to)) return undefined;
  let clipped = false;
  if (options.clip && values.length > 20) {
    values.sort((a, b) => a - b);
    const low = values[Math.floor(CLIP_SHARE * (values.length - 1))]!;
    const high = values[Math.ceil((1 - CLIP_SHARE) * (values.length - 1))]!;
    const place = (value: number): number => (log ? Math.log(value) : value);
    if (high > low && place(to) - place(from) > CLIP_FACTOR * (place(high) - place(low))) {
      [from, to, clipped] = [low, high, true];
    }
  }
  return { ...(options.tight === true ? { from, to } : withRoom(from, to, log)), clipped };
}

function withRoom(from: number, to: number, log: boolean): { from: number; to: number } {
  if (log) {
    const factor = (to / from) ** ROOM;
    return Number.isFinite(factor) ? { from: from / factor, to: to * factor } : { from, to };
  }
  const room = (to - from) * ROOM;
  return Number.isFinite(room) ? { from: from - room, to: to + room } : { from, to };
}

function shownPart({ x }: Points, { from, to }: RangeOptions): [number, number] {
  const begin = lowerBound(x, from);
  let end = lowerBound(x, to);
  while (end < x.length && x[end] === to) end++;
  return [begin, end];
}
