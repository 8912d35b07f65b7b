import type { Scale } from "#lang/ticks/scale.ts";

export type XRange = readonly [number, number];

/** How far a user may pan away from the points, in lengths of their range. */
const BEYOND = 1;
/** The smallest share of the whole range that may fill the picture; a smaller one has no distinct values. */
const CLOSEST = 1e-9;

/** The range after a move by so many pixels to the right of the picture; some of the points stay visible. */
export function panned({ from, to, start, end }: Scale, byPx: number, extent: XRange): XRange {
  const width = to - from;
  const by = (byPx * width) / (end - start);
  // A range that is already further out may only move back.
  const low = Math.min(from, extent[0] - width / 2);
  const high = Math.max(to, extent[1] + width / 2) - width;
  const moved = Math.min(high, Math.max(low, from + by));
  return [moved, moved + width];
}

/** The range around a place that stays where it is; `factor` below 1 shows less. */
export function zoomed({ from, to }: Scale, around: number, factor: number, extent: XRange): XRange {
  const width = to - from;
  const all = extent[1] - extent[0] || width;
  const least = Math.max(all * CLOSEST, Math.abs(around) * 1e-13);
  const most = Math.max(width, all * (1 + 2 * BEYOND));
  const next = Math.min(most, Math.max(least, width * factor));
  const share = (around - from) / width;
  const low = around - share * next;
  return [low, low + next];
}

/** A picture that is stretched more than this is too coarse. */
const STRETCH_MAX = 4;

/** The picture lacks something of the range, or shows too little of it. */
export function isWorn(drawn: Scale, [from, to]: XRange): boolean {
  if (from < drawn.from || to > drawn.to) return true;
  return drawn.to - drawn.from > STRETCH_MAX * (to - from);
}

/** How a picture that was drawn for one range is shifted and stretched to show another. */
export function shiftOf(drawn: Scale, [from, to]: XRange): { shiftPx: number; stretch: number } {
  const room = drawn.end - drawn.start;
  return {
    stretch: (drawn.to - drawn.from) / (to - from),
    shiftPx: ((drawn.from - from) / (to - from)) * room,
  };
}
