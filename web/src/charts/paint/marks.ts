import { lowerBound } from "#base/lower-bound.ts";
import type { Points } from "../lines/line.ts";
import type { Scale } from "#lang/ticks/scale.ts";

/** The position of a logged value without a height. */
export interface Mark {
  readonly pixel: number;
  readonly kind: "nan" | "up" | "down";
}

/** At most one mark of a kind per column of this many pixels: a line of only NaN is a row of crosses, not a bar. */
const APART_PX = 6;

export function marksOf({ x, y, low = y, high = y, nan, words }: Points, scale: Scale): Mark[] {
  if (words !== undefined) return [];
  const marks: Mark[] = [];
  const lastAt = { nan: -Infinity, up: -Infinity, down: -Infinity };
  const add = (kind: Mark["kind"], pixel: number): void => {
    if (pixel - lastAt[kind] < APART_PX) return;
    lastAt[kind] = pixel;
    marks.push({ pixel, kind });
  };
  for (let i = lowerBound(x, scale.from); i < x.length && x[i]! <= scale.to; i++) {
    const pixel = scale.toPlace(x[i]!);
    if (nan === undefined ? Number.isNaN(y[i]!) : nan[i] === 1) add("nan", pixel);
    if (high[i] === Infinity) add("up", pixel);
    if (low[i] === -Infinity) add("down", pixel);
  }
  return marks;
}
