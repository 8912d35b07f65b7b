import { placesOf, type Axis } from "../columns/axis.ts";

/** The layout of the parallel coordinates, in pixels. */
export interface ParallelLayout {
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly bottom: number;
  /** Of runs without a value. */
  readonly noneY: number;
  readonly xs: readonly number[];
  /** Per axis, the place of every run, for bundles. */
  readonly places: readonly Float32Array[];
  /** The same in pixels. */
  readonly ys: readonly Float32Array[];
}

const TOP = 12;
const NONE_ROOM = 40;
const SIDE = 64;
const AXIS_ROOM_MIN = 104;

/** The width that so many axes need. */
export function parallelWidth(axisCount: number, roomPx: number): number {
  return Math.max(roomPx, 2 * SIDE + Math.max(0, axisCount - 1) * AXIS_ROOM_MIN);
}

const HEAD_PX_MAX = 200;
const HEAD_GAP_PX = 4;

/** How wide the name of an axis may be: up to its neighbours, and not over the edge. */
export function headWidth(xs: readonly number[], i: number): number {
  const gap = xs.length > 1 ? xs[1]! - xs[0]! - HEAD_GAP_PX : HEAD_PX_MAX;
  const isOuter = i === 0 || i === xs.length - 1;
  return Math.min(isOuter ? 2 * SIDE : HEAD_PX_MAX, gap);
}

export function layOutParallel(axes: readonly Axis[], width: number, height: number): ParallelLayout {
  const bottom = Math.max(TOP + 1, height - NONE_ROOM);
  const noneY = height - NONE_ROOM / 2 + 4;
  const step = axes.length > 1 ? (width - 2 * SIDE) / (axes.length - 1) : 0;
  const xs = axes.map((_, i) => (axes.length > 1 ? SIDE + i * step : width / 2));
  const places = axes.map(placesOf);
  const ys = places.map((column) => column.map((place) => yOf({ top: TOP, bottom, noneY }, place)));
  return { width, height, top: TOP, bottom, noneY, xs, places, ys };
}

export function yOf(
  { top, bottom, noneY }: Pick<ParallelLayout, "top" | "bottom" | "noneY">,
  place: number,
): number {
  return place === place ? bottom - place * (bottom - top) : noneY;
}

/** A position this near to an end counts as the end. */
const END_PX = 6;

/** The place on an axis at a height; outside its ends below 0 or above 1. */
export function placeAt({ top, bottom }: Pick<ParallelLayout, "top" | "bottom">, y: number): number {
  if (Math.abs(y - bottom) <= END_PX) return 0;
  if (Math.abs(y - top) <= END_PX) return 1;
  return (bottom - y) / (bottom - top);
}

/** The run whose line passes nearest to a point, of those that remain and are within reach; -1 for none. */
export function nearestLine(
  { xs, ys }: Pick<ParallelLayout, "xs" | "ys">,
  mask: Uint8Array,
  x: number,
  y: number,
  reachPx: number,
): number {
  if (xs.length === 0) return -1;
  let right = xs.findIndex((at) => at >= x);
  if (right < 0) right = xs.length - 1;
  const left = Math.max(0, right - 1);
  const gap = xs[right]! - xs[left]!;
  const share = gap > 0 ? Math.min(1, Math.max(0, (x - xs[left]!) / gap)) : 0;
  const [from, to] = [ys[left]!, ys[right]!];
  let best = -1;
  let bestFar = reachPx;
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0) continue;
    const rise = to[i]! - from[i]!;
    const off = Math.abs(from[i]! + rise * share - y);
    // The perpendicular distance, so that steep lines are within reach.
    const far = gap > 0 ? (off * gap) / Math.hypot(gap, rise) : off;
    if (far <= bestFar && (best < 0 || far < bestFar)) {
      best = i;
      bestFar = far;
    }
  }
  return best;
}
