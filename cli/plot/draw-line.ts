import type { DotGrid } from "./dot-grid.ts";
import type { Line } from "./line.ts";
import type { Scale } from "./scale.ts";

interface Dot {
  x: number;
  y: number;
}

export interface Axes {
  x: Scale;
  y: Scale;
}

/**
 * Draws a line into the grid. Of every mark the least and the largest value set a dot in its own column, so that
 * a single point that stands out is seen among any number of others. Marks are joined where nothing is missing
 * between them. The unsmoothed line is drawn faintly `behind` a smoothed one. Returns the row each column of cells was
 * last left at, for markers.
 */
export function drawLine(
  grid: DotGrid,
  line: Line,
  axes: Axes,
  owner: number,
  { behind = true }: { behind?: boolean } = {},
): Map<number, number> {
  if (line.band !== undefined) {
    drawBand(grid, line, axes, owner);
    return drawCurve(grid, line.marks.x, line.marks.mean, axes, owner);
  }
  if (line.smooth !== undefined) {
    if (behind) drawMarks(grid, line, axes, owner, true);
    return drawCurve(grid, line.marks.x, line.smooth, axes, owner);
  }
  return drawMarks(grid, line, axes, owner, false);
}

function drawMarks(
  grid: DotGrid,
  { marks }: Line,
  axes: Axes,
  owner: number,
  faint: boolean,
): Map<number, number> {
  const rows = new Map<number, number>();
  let pen: Dot | undefined;
  for (let i = 0; i < marks.x.length; i++) {
    const x = dotX(grid, axes, marks.x[i]!);
    if (x === undefined) continue;
    const low = dotY(grid, axes, marks.low[i]!) ?? bottom(grid, marks.high[i]!, axes);
    const high = dotY(grid, axes, marks.high[i]!);
    if (low !== undefined && high !== undefined) grid.line(x, low, x, high, owner, faint);
    const enter = dotY(grid, axes, marks.first[i]!);
    if (enter !== undefined && pen !== undefined) {
      grid.line(pen.x, pen.y, x, enter, owner, faint);
      trace(grid, rows, pen, { x, y: enter });
    }
    const leave = dotY(grid, axes, marks.last[i]!);
    pen = leave === undefined ? undefined : { x, y: leave };
    if (pen !== undefined) trace(grid, rows, pen, pen);
  }
  return rows;
}

/** Notes the row of cells that a stroke passes through, for each column. */
function trace(grid: DotGrid, rows: Map<number, number>, from: Dot, to: Dot): void {
  const { across, down } = grid.shape;
  for (let column = Math.floor(from.x / across); column <= Math.floor(to.x / across); column++) {
    const x = Math.min(to.x, Math.max(from.x, column * across));
    const share = to.x === from.x ? 1 : (x - from.x) / (to.x - from.x);
    rows.set(column, Math.floor(Math.round(from.y + (to.y - from.y) * share) / down));
  }
}

/** On a log axis a bucket may begin with a number that cannot be shown and end with one that can. */
function bottom(grid: DotGrid, high: number, { y }: Axes): number | undefined {
  return Number.isNaN(y.place(high)) ? undefined : grid.height - 1;
}

function drawCurve(
  grid: DotGrid,
  xs: Float64Array,
  values: Float64Array,
  axes: Axes,
  owner: number,
): Map<number, number> {
  const rows = new Map<number, number>();
  let pen: Dot | undefined;
  for (let i = 0; i < xs.length; i++) {
    const x = dotX(grid, axes, xs[i]!);
    const y = dotY(grid, axes, values[i]!);
    if (x === undefined || y === undefined) {
      pen = undefined;
      continue;
    }
    grid.line(pen?.x ?? x, pen?.y ?? y, x, y, owner);
    trace(grid, rows, pen ?? { x, y }, { x, y });
    pen = { x, y };
  }
  return rows;
}

/** Also between two buckets, as long as neither end is missing. */
function drawBand(grid: DotGrid, { marks, band }: Line, axes: Axes, owner: number): void {
  let before: { x: number; low: number; high: number } | undefined;
  for (let i = 0; i < marks.x.length; i++) {
    const x = dotX(grid, axes, marks.x[i]!);
    const high = dotY(grid, axes, band!.high[i]!);
    const low = dotY(grid, axes, band!.low[i]!) ?? bottom(grid, band!.high[i]!, axes);
    if (x === undefined || low === undefined || high === undefined) {
      before = undefined;
      continue;
    }
    const from = before ?? { x, low, high };
    for (let at = from.x; at <= x; at++) {
      const share = x === from.x ? 1 : (at - from.x) / (x - from.x);
      const between = (a: number, b: number) => Math.round(a + (b - a) * share);
      grid.sparseColumn(at, between(from.low, low), between(from.high, high), owner);
    }
    before = { x, low, high };
  }
}

function dotX(grid: DotGrid, { x }: Axes, value: number): number | undefined {
  if (Number.isNaN(value) || value < x.min || value > x.max) return undefined;
  return grid.dotX(x.place(value));
}

/** Infinities are at the edge. */
function dotY(grid: DotGrid, { y }: Axes, value: number): number | undefined {
  const place = y.place(value);
  return Number.isNaN(place) ? undefined : grid.dotY(place);
}
