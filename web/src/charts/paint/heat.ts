import { columnsOf } from "../lines/columns.ts";
import { frameOf, type Frame, type XKind } from "./frame.ts";
import { HEAT_LEGEND_PX } from "./heat-legend.ts";
import type { Reading } from "../hover.ts";
import { extentOfX, type Line } from "../lines/line.ts";
import { heatColour } from "./palette.ts";
import type { Drawn } from "./paint.ts";
import type { Ink, Pen } from "./pen.ts";
import { valueRange } from "../lines/range.ts";

/**
 * A heat map has one row per line, from the top, and a colour per value: a rank that is slower than the others is a
 * row that is darker than the others.
 */
export interface Heat {
  readonly frame: Frame;
  readonly from: number;
  readonly to: number;
}

interface HeatOptions {
  xKind: XKind;
  log: boolean;
  clip: boolean;
  zoom?: readonly [number, number] | undefined;
  /** Values are counts: their colours begin at 0 and end at a whole number. */
  counts?: boolean | undefined;
}

export function heatOf(
  lines: readonly Line[],
  width: number,
  height: number,
  { xKind, log, clip, zoom, counts }: HeatOptions,
  headPx = 0,
): Heat | undefined {
  const x = zoom ?? extentOfX(lines);
  if (x === undefined) return undefined;
  const range = valueRange(lines, { from: x[0], to: x[1], log, clip, tight: true }) ?? { from: 0, to: 1 };
  const words = rowNames(lines.map(({ name }) => name)).map(endOf);
  const y = [lines.length - 0.5, -0.5] as const;
  // Rows count from the top, so the axis is upside down: the frame is made the right way up and turned.
  const frame = frameOf({
    width,
    height: height - HEAT_LEGEND_PX,
    headPx: headPx + HEAT_LEGEND_PX,
    xKind,
    x,
    y: [y[1], y[0]],
    log: false,
    words,
  });
  const ends = counts === true ? { from: 0, to: Math.ceil(range.to) } : { from: range.from, to: range.to };
  return { frame: turned(frame, lines.length), ...ends };
}

const LABEL = /^[^=\s]+=\S*$/;

/** Of names with labels only the last of these, as many as distinguish the rows: "rank=3" of "host=a01 rank=3". */
function rowNames(names: readonly string[]): readonly string[] {
  const words = names.map((name) => name.split(" "));
  const labels = words.map((each) => each.length - 1 - each.findLastIndex((word) => !LABEL.test(word)));
  for (let kept = 1; kept <= Math.min(...labels); kept++) {
    const ends = words.map((each) => each.slice(-kept).join(" "));
    if (new Set(ends).size === names.length) return ends;
  }
  return names;
}

const NAME_MAX = 10;

/** Names of rows differ in their last label, which is kept. */
function endOf(name: string): string {
  const signs = Array.from(name);
  return signs.length > NAME_MAX ? `…${signs.slice(1 - NAME_MAX).join("")}` : name;
}

function turned(frame: Frame, rows: number): Frame {
  const last = rows - 1;
  const { y } = frame;
  return {
    ...frame,
    y: { ...y, toPlace: (row) => y.toPlace(last - row), toValue: (pixel) => last - y.toValue(pixel) },
  };
}

export function paintHeat(
  pen: Pen,
  { frame, from, to }: Heat,
  drawn: readonly Drawn[],
  options: { log: boolean; dark: boolean },
  ink: Ink,
): void {
  const place = (value: number): number => (options.log ? Math.log(value) : value);
  const [low, high] = [place(from), place(to)];
  const height = Math.abs(frame.y.toPlace(0) - frame.y.toPlace(1));
  const gap = height > 6 ? 1 : 0;
  pen.globalAlpha = 1;
  for (const [row, { line, calm }] of drawn.entries()) {
    const values = calm ?? line.y;
    const top = Math.round(frame.y.toPlace(row) - height / 2);
    const bottom = Math.round(frame.y.toPlace(row) + height / 2);
    const { size, pixel, first, last } = columnsOf(line.x, values, frame.x);
    const usual = size > 1 ? (pixel[size - 1]! - pixel[0]!) / (size - 1) : frame.right - frame.left;
    for (let i = 0; i < size; i++) {
      const value = (first[i]! + last[i]!) / 2;
      const at = pixel[i]!;
      // Whole pixels, so that no seam shows.
      const left = Math.max(frame.left, Math.floor((at + (i > 0 ? pixel[i - 1]! : at - usual)) / 2));
      const right = Math.min(frame.right, Math.ceil((at + (i + 1 < size ? pixel[i + 1]! : at + usual)) / 2));
      if (Number.isNaN(value) || !(right > left)) continue;
      const share = high > low ? (place(value) - low) / (high - low) : 0.5;
      pen.fillStyle = Number.isNaN(share) ? ink.grid : heatColour(share, options.dark);
      pen.fillRect(left, top, right - left, Math.max(1, bottom - top - gap));
    }
  }
}

/** The reading of the row at a height on the screen. */
export function readingOfRow(
  readings: readonly Reading[],
  drawn: readonly Drawn[],
  frame: Frame,
  pixelY: number,
): Reading | undefined {
  const row = drawn[Math.round(frame.y.toValue(pixelY))];
  return readings.find((reading) => reading.drawn === row);
}
