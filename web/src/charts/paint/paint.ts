import { columnsOf } from "../lines/columns.ts";
import type { Frame } from "./frame.ts";
import type { Line } from "../lines/line.ts";
import type { Ink, Pen } from "./pen.ts";
import { marksOf } from "./marks.ts";

/** A line with its smoothed version, if smoothing is on. */
export interface Drawn {
  readonly line: Line;
  readonly calm?: Float64Array;
}

const BAND_ALPHA = 0.16;
const EDGE_ALPHA = 0.3;
const RAW_ALPHA = 0.28;
/** With more lines than this bands would overlap too much: then only outliers of a line are drawn, as spikes. */
const BANDS_MAX = 10;
/** So many lines cannot be distinguished by their dashes, which take most of the drawing time. */
const DASHED_MAX = 40;
/** The opacity of points that a restart replaced. */
const FADED_ALPHA = 0.45;
const DOT_ROOM_PX = 8;
const DOT = 1.8;

/** Grid and labels. */
export function paintFrame(pen: Pen, frame: Frame, ink: Ink): void {
  pen.lineWidth = 1;
  pen.globalAlpha = 1;
  pen.setLineDash([]);
  pen.font = ink.font;
  pen.strokeStyle = ink.grid;
  pen.fillStyle = ink.label;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const { at, label } of frame.yTicks) {
    const y = Math.round(frame.y.toPlace(at)) + 0.5;
    pen.beginPath();
    pen.moveTo(frame.left, y);
    pen.lineTo(frame.right, y);
    pen.stroke();
    pen.fillText(label, frame.left - 6, y);
  }
  pen.textBaseline = "top";
  for (const { at, label } of frame.xTicks) {
    const x = frame.x.toPlace(at);
    const half = label.length * 3.1;
    pen.textAlign = x + half > frame.width - 2 ? "right" : x - half < 0 ? "left" : "center";
    pen.fillText(
      label,
      pen.textAlign === "right" ? Math.min(x + half, frame.width - 2) : x,
      frame.bottom + 5,
    );
  }
}

/** All lines, each with its band or its raw line behind it, and marks where there was no number. */
export function paintLines(pen: Pen, frame: Frame, drawn: readonly Drawn[], ink: Ink): void {
  const banded = hasBands(drawn);
  clipped(pen, frame, () => {
    const all = drawn.length > DASHED_MAX ? drawn.map(plain) : drawn;
    const shown = all.toSorted((a, b) => Number(b.line.faded ?? 0) - Number(a.line.faded ?? 0));
    for (const each of shown) paintBehind(pen, frame, each, banded);
    for (const each of shown) paintLine(pen, frame, each, widthOf(each.line, drawn.length));
  });
  for (const each of drawn) paintMarks(pen, frame, each.line, ink);
}

function hasBands(drawn: readonly Drawn[]): boolean {
  return drawn.length <= BANDS_MAX;
}

function plain({ line, calm }: Drawn): Drawn {
  return { line: Object.assign({}, line, { dash: [] }), ...(calm && { calm }) };
}

export function widthOf({ bold }: Line, count = 1): number {
  if (bold === true) return 2.6;
  return count > DASHED_MAX ? 1 : 1.5;
}

/** Draws only where the plot is. */
export function clipped(pen: Pen, { left, top, right, bottom }: Frame, draw: () => void): void {
  pen.save();
  pen.beginPath();
  pen.rect(left - 1, top - 2, right - left + 2, bottom - top + 4);
  pen.clip();
  draw();
  pen.restore();
}

function paintBehind(pen: Pen, frame: Frame, { line, calm }: Drawn, banded: boolean): void {
  if (line.faded === true) return;
  if (line.low !== undefined) (banded ? paintBand : paintSpikes)(pen, frame, line);
  if (calm === undefined) return;
  pen.globalAlpha = RAW_ALPHA;
  strokeValues(pen, frame, line, line.y, 1);
  pen.globalAlpha = 1;
}

export function paintLine(pen: Pen, frame: Frame, { line, calm }: Drawn, width: number): void {
  pen.globalAlpha = line.faded === true ? FADED_ALPHA : 1;
  strokeValues(pen, frame, line, calm ?? line.y, width);
  pen.globalAlpha = 1;
}

function strokeValues(pen: Pen, frame: Frame, line: Line, values: Float64Array, width: number): void {
  const { words } = line;
  const columns = columnsOf(line.x, values, frame.x);
  const { size, pixel, first, last } = columns;
  // Dots only where there is room between them.
  const dots = words === undefined && size > 0 && pixel[size - 1]! - pixel[0]! >= (size - 1) * DOT_ROOM_PX;
  pen.strokeStyle = line.colour;
  pen.fillStyle = line.colour;
  pen.lineWidth = width;
  pen.lineJoin = "bevel";
  pen.setLineDash([...line.dash]);
  pen.beginPath();
  let down = false;
  let lastY = 0;
  const lonely: number[] = [];
  for (let i = 0; i < size; i++) {
    const y = place(frame, first[i]!);
    if (Number.isNaN(y)) {
      down = false;
      continue;
    }
    const x = pixel[i]!;
    if (!down) {
      pen.moveTo(x, y);
      if (i + 1 >= size || Number.isNaN(place(frame, first[i + 1]!))) lonely.push(i);
    } else if (words === undefined) pen.lineTo(x, y);
    else {
      // A text is valid until the next one.
      pen.lineTo(x, lastY);
      pen.lineTo(x, y);
    }
    if (columns.low[i]! !== columns.high[i]!) {
      for (const value of [columns.low[i]!, columns.high[i]!, last[i]!]) {
        const at = place(frame, value);
        if (!Number.isNaN(at)) pen.lineTo(x, at);
      }
    }
    lastY = place(frame, last[i]!);
    down = true;
  }
  // The last text stays valid; if it is outside the edge, there is nothing to add.
  if (words !== undefined && down && pixel[size - 1]! < frame.right) pen.lineTo(frame.right, lastY);
  pen.stroke();
  pen.setLineDash([]);
  const dotted = dots ? Array.from({ length: size }, (_, i) => i) : lonely;
  const reach = dots ? Math.max(DOT, width) : DOT + 0.4;
  for (const i of dotted) {
    const y = place(frame, first[i]!);
    const x = pixel[i]!;
    if (Number.isNaN(y) || x < frame.left - 1 || x > frame.right + 1) continue;
    pen.fillRect(x - reach, y - reach, 2 * reach, 2 * reach);
  }
}

/** Clamped to one screen outside, which is safer to draw. NaN for values that cannot be shown. */
function place({ y, height }: Frame, value: number): number {
  const at = y.toPlace(value);
  // On a log axis 0 is infinitely far below.
  if (Number.isNaN(at)) return Number.NaN;
  return Math.min(2 * height, Math.max(-height, at));
}

function paintBand(pen: Pen, frame: Frame, line: Line): void {
  const { size, pixel, low, high } = columnsOf(line.x, line.y, frame.x, line.low, line.high);
  pen.fillStyle = line.colour;
  pen.strokeStyle = line.colour;
  pen.lineWidth = 1;
  pen.setLineDash([]);
  for (let begin = 0; begin < size; begin++) {
    let end = begin;
    while (end < size && !Number.isNaN(low[end]!)) end++;
    if (end - begin > 0) {
      pen.beginPath();
      for (let i = begin; i < end; i++) {
        const y = bandPlace(frame, high[i]!);
        if (i === begin) pen.moveTo(pixel[i]!, y);
        else pen.lineTo(pixel[i]!, y);
      }
      for (let i = end - 1; i >= begin; i--) pen.lineTo(pixel[i]!, bandPlace(frame, low[i]!));
      pen.closePath();
      pen.globalAlpha = BAND_ALPHA;
      pen.fill();
      // A spike is narrower than a pixel: only its outline is visible.
      pen.globalAlpha = EDGE_ALPHA;
      pen.stroke();
    }
    begin = end;
  }
  pen.globalAlpha = 1;
}

/** The part of a column that exceeds this many usual heights of the line is a spike. */
const SPIKE_FACTOR = 4;
const SPIKE_ALPHA = 0.55;

/** Outliers of a line among many: without them a single one would disappear in the mean of its bucket. */
function paintSpikes(pen: Pen, frame: Frame, line: Line): void {
  const { size, pixel, low, high } = columnsOf(line.x, line.y, frame.x, line.low, line.high);
  const usual = usualHeight(low, high, size);
  pen.strokeStyle = line.colour;
  pen.lineWidth = 1;
  pen.globalAlpha = SPIKE_ALPHA;
  pen.setLineDash([]);
  pen.beginPath();
  for (let i = 0; i < size; i++) {
    if (!(high[i]! - low[i]! > SPIKE_FACTOR * usual)) continue;
    pen.moveTo(pixel[i]!, bandPlace(frame, high[i]!));
    pen.lineTo(pixel[i]!, bandPlace(frame, low[i]!));
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

const SAMPLES = 64;

/** The median of a few heights, as the usual height. */
function usualHeight(low: Float64Array, high: Float64Array, size: number): number {
  const every = Math.max(1, Math.floor(size / SAMPLES));
  const heights: number[] = [];
  for (let i = 0; i < size; i += every) if (!Number.isNaN(low[i]!)) heights.push(high[i]! - low[i]!);
  return heights.sort((a, b) => a - b)[heights.length >> 1] ?? 0;
}

/** A band that reaches 0 or below ends at the bottom of a log axis. */
function bandPlace(frame: Frame, value: number): number {
  const at = place(frame, value);
  return Number.isNaN(at) ? frame.bottom : at;
}

const MARK = 4;

/** Values that are not numbers: crosses at the bottom for NaN, arrows at the edges for infinities. */
function paintMarks(pen: Pen, frame: Frame, line: Line, ink: Ink): void {
  const marks = marksOf(line, frame.x);
  pen.setLineDash([]);
  pen.lineWidth = 1.3;
  for (const { pixel, kind } of marks) {
    pen.strokeStyle = kind === "nan" ? ink.bad : line.colour;
    pen.fillStyle = line.colour;
    pen.beginPath();
    if (kind === "nan") {
      const y = frame.bottom - MARK - 1;
      pen.moveTo(pixel - MARK / 2, y - MARK / 2);
      pen.lineTo(pixel + MARK / 2, y + MARK / 2);
      pen.moveTo(pixel + MARK / 2, y - MARK / 2);
      pen.lineTo(pixel - MARK / 2, y + MARK / 2);
      pen.stroke();
    } else {
      const [tip, foot] =
        kind === "up" ? [frame.top, frame.top + 2 * MARK] : [frame.bottom, frame.bottom - 2 * MARK];
      pen.moveTo(pixel, tip);
      pen.lineTo(pixel - MARK, foot);
      pen.lineTo(pixel + MARK, foot);
      pen.closePath();
      pen.fill();
    }
  }
}
