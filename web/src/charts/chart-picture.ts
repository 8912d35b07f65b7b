import { frameOf, type Frame, type XKind } from "./paint/frame.ts";
import { extentOfX, type Line } from "./lines/line.ts";
import type { Drawn } from "./paint/paint.ts";
import { valueRange } from "./lines/range.ts";
import { smooth, type Smoothing } from "#lang/smooth.ts";

export interface PictureOptions {
  xKind: XKind;
  /** The name of the metric along x; only for that kind. */
  xName?: string | undefined;
  log: boolean;
  clip: boolean;
  smoothing: Smoothing;
  /** The visible range of x; undefined for everything. */
  zoom?: readonly [number, number] | undefined;
  zoomY?: readonly [number, number] | undefined;
  /** The range that y always includes, such as 0 to 1. */
  fixedY?: readonly [number, number] | undefined;
}

/** Smoothing in units of the line itself: `amount` 0 to 1 means the same for short and for long lines. */
const TIME_UNITS = 1_000;

export function drawnOf(lines: readonly Line[], smoothing: Smoothing): Drawn[] {
  return lines.map((line) => {
    if (smoothing.kind === "none" || line.words !== undefined) return { line };
    return { line, calm: smooth(line.x, line.y, inUnitsOf(line, smoothing), line.count) };
  });
}

function inUnitsOf({ x, pointCount }: Line, smoothing: Smoothing): Smoothing {
  if (smoothing.kind !== "time-ema" || x.length < 2) return smoothing;
  const unit = (x[x.length - 1]! - x[0]!) / Math.min(TIME_UNITS, Math.max(x.length, pointCount) - 1);
  return { ...smoothing, unit: unit > 0 ? unit : 1 };
}

export interface Picture {
  readonly frame: Frame;
  /** Outliers are clipped. */
  readonly clipped: boolean;
}

/** The layout; undefined when no line has a number or word to show. */
export function pictureOf(
  lines: readonly Line[],
  width: number,
  height: number,
  { xKind, log, clip, zoom, zoomY, fixedY }: PictureOptions,
  headPx = 0,
): Picture | undefined {
  const x = zoom ?? extentOfX(lines);
  if (x === undefined) return undefined;
  const words = lines.find((line) => line.words !== undefined)?.words;
  const range = valueRange(lines, { from: x[0], to: x[1], log: log && words === undefined, clip });
  // Only NaN: there is no height, but there are marks.
  const shown = range ?? { from: log ? 0.1 : 0, to: 1, clipped: false };
  const y = zoomY ?? yOf(shown, fixedY, words, log);
  const frame = frameOf({
    width,
    height,
    headPx,
    xKind,
    x,
    y,
    log: log && words === undefined,
    ...(words && { words }),
  });
  return { frame, clipped: shown.clipped && zoomY === undefined };
}

function yOf(
  { from, to }: { from: number; to: number },
  fixed: readonly [number, number] | undefined,
  words: readonly string[] | undefined,
  log: boolean,
): readonly [number, number] {
  if (words !== undefined) return [-0.5, Math.max(0.5, words.length - 0.5)];
  if (fixed === undefined) return [from, to];
  // A log axis never reaches 0: there it begins at the smallest value shown.
  const low = log && !(fixed[0] > 0) ? from : Math.min(fixed[0], from);
  return [low, Math.max(fixed[1], to)];
}
