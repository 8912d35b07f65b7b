import { placesOf, type Axis } from "../columns/axis.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";

/** The layout of a scatter, in pixels. */
export interface ScatterLayout {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Of every run; NaN where a value is missing. */
  readonly xs: Float32Array;
  readonly ys: Float32Array;
  readonly radii: Float32Array;
}

const MARGIN = { left: 76, right: 20, top: 30, bottom: 48 } as const;
/** Points of a category are beside each other, within this share of its width. */
const JITTER = 0.5;
export const PLAIN_RADIUS = 3.5;
const RADIUS_MANY = 2.5;
const MANY = 3_000;
const RADIUS_RANGE = [2.5, 9] as const;
/** A point at the edge is not cut. */
const INSET_PX = 8;

export function layOutScatter(
  x: Axis,
  y: Axis,
  size: ExploredColumn | undefined,
  width: number,
  height: number,
): ScatterLayout {
  const left = MARGIN.left;
  const right = Math.max(left + 1, width - MARGIN.right);
  const top = MARGIN.top;
  const bottom = Math.max(top + 1, height - MARGIN.bottom);
  const [xPlaces, yPlaces] = [spreadPlaces(x, 1), spreadPlaces(y, 2)];
  const count = xPlaces.length;
  const xs = new Float32Array(count);
  const ys = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const isThere = xPlaces[i] === xPlaces[i] && yPlaces[i] === yPlaces[i];
    xs[i] = isThere ? xOf({ left, right }, xPlaces[i]!) : Number.NaN;
    ys[i] = isThere ? heightOf({ top, bottom }, yPlaces[i]!) : Number.NaN;
  }
  return { width, height, left, right, top, bottom, xs, ys, radii: radiiOf(size, count) };
}

export function xOf({ left, right }: Pick<ScatterLayout, "left" | "right">, place: number): number {
  return left + INSET_PX + place * (right - left - 2 * INSET_PX);
}

export function heightOf({ top, bottom }: Pick<ScatterLayout, "top" | "bottom">, place: number): number {
  return bottom - INSET_PX - place * (bottom - top - 2 * INSET_PX);
}

/** The place on the axis of a pixel. */
export function placeOfX({ left, right }: Pick<ScatterLayout, "left" | "right">, x: number): number {
  return (x - left - INSET_PX) / (right - left - 2 * INSET_PX);
}

export function placeOfY({ top, bottom }: Pick<ScatterLayout, "top" | "bottom">, y: number): number {
  return (bottom - INSET_PX - y) / (bottom - top - 2 * INSET_PX);
}

function spreadPlaces(axis: Axis, salt: number): Float32Array {
  const places = placesOf(axis);
  if (axis.scale !== "category") return places;
  const room = JITTER / Math.max(1, axis.column.categories.length);
  // The same run is always in the same place.
  return places.map(
    (place, i) => place + (((Math.imul(i + 1, 0x9e3779b1 * salt) >>> 8) & 0xffff) / 0xffff - 0.5) * room,
  );
}

function radiiOf(size: ExploredColumn | undefined, count: number): Float32Array {
  const radii = new Float32Array(count).fill(count > MANY ? RADIUS_MANY : PLAIN_RADIUS);
  if (size === undefined) return radii;
  const [low, high] = size.kind === "number" ? [size.low, size.high] : [0, size.categories.length - 1];
  const [least, most] = RADIUS_RANGE;
  // By area, because that is perceived as the size.
  return radii.map((_, i) => {
    const value = size.values[i]!;
    const share = high > low ? (value - low) / (high - low) : 0.5;
    return share === share ? Math.sqrt(least ** 2 + share * (most ** 2 - least ** 2)) : least;
  });
}

/** The run whose point is nearest, of those that remain and are within reach; -1 for none. */
export function nearestPoint(
  { xs, ys }: Pick<ScatterLayout, "xs" | "ys">,
  mask: Uint8Array,
  x: number,
  y: number,
  reachPx: number,
): number {
  let best = -1;
  let bestFar = reachPx ** 2;
  for (let i = 0; i < mask.length; i++) {
    const far = (xs[i]! - x) ** 2 + (ys[i]! - y) ** 2;
    if (mask[i] === 1 && far <= bestFar && (best < 0 || far < bestFar)) {
      best = i;
      bestFar = far;
    }
  }
  return best;
}
