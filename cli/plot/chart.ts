import type { Extent } from "#sdk/series.ts";
import { cut, padEnd, padStart, widthOf } from "../output/text.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { DotGrid } from "./dot-grid.ts";
import { drawLine, type Axes } from "./draw-line.ts";
import { drawnColumns, extentOf, type Line } from "./line.ts";
import { positionScale, valueScale, type AxisKind, type Scale } from "./scale.ts";
import { bold, cellText, COLOURS, dimmed, inColour, markerOf, type ChartStyle } from "./style.ts";

export interface Chart {
  /** Printable. */
  title: string;
  /** Such as "lower is better"; may be empty. */
  remark: string;
  lines: readonly Line[];
  axis: AxisKind;
  log: boolean;
  /** Also shown when the values do not reach that far; for shares of one. */
  atLeast?: Extent | undefined;
}

export interface ChartSize {
  /** Of the whole picture, labels and all, in cells. */
  columns: number;
  /** Of the area with the lines. */
  rows: number;
}

const ROWS_PER_TICK = 2;
const COLUMNS_PER_TICK = 14;
/** Cells between two markers of one line. */
const MARKER_EVERY = 18;
/** More lines than this are drawn, but not named. */
const NAMED_MAX = 24;
const PLOT_COLUMNS_MIN = 10;
/** Names in the legend are cut only when there is no other way, and never shorter than the second. */
const NAME_MIN = 20;
const SHORT_NAME = 8;
/** Approximate room for labels of values beside the plot; the exact width depends on the values. */
const LABEL_COLUMNS = 10;

/** How many columns of dots a picture has, about: what is read should have two buckets for each. */
export function dotColumns({ columns }: ChartSize, style: ChartStyle): number {
  return Math.max(PLOT_COLUMNS_MIN, columns - LABEL_COLUMNS) * style.shape.across;
}

/** The chart as lines of text. */
export function renderChart(chart: Chart, size: ChartSize, style: ChartStyle): string[] {
  const head = [titleLine(chart, size, style)];
  const axes = axesOf(chart, size, style);
  if (axes === undefined)
    return [...head, "", dimmed(style, "  no number to draw"), "", ...legend(chart, size, style)];
  const labels = Math.max(...axes.y.ticks.map(({ label }) => label.length));
  const columns = Math.max(PLOT_COLUMNS_MIN, size.columns - labels - 2);
  const grid = new DotGrid(columns, size.rows, style.shape);
  const markers = new Map<number, number>();
  // The first line is drawn last and so lies on top.
  for (let owner = chart.lines.length - 1; owner >= 0; owner--) {
    const rows = drawLine(grid, chart.lines[owner]!, axes, owner, { behind: showsBehind(style) });
    if (needsMarkers(chart, style)) placeMarkers(markers, rows, owner, columns);
  }
  return [
    ...head,
    ...plotRows(grid, axes.y, markers, labels, style),
    ...axisRows(axes.x, columns, labels, chart.axis, style),
    ...legend(chart, size, style),
  ];
}

function axesOf(
  { lines, axis, log, atLeast }: Chart,
  { columns, rows }: ChartSize,
  style: ChartStyle,
): Axes | undefined {
  const x = extentOf(
    lines.map(({ marks }) => (marks.span === undefined ? marks.x : [marks.span.min, marks.span.max])),
  );
  const keep = log ? (value: number) => value > 0 && value < Infinity : Number.isFinite;
  const y = extentOf(
    [
      ...lines.flatMap((line) => drawnColumns(line, showsBehind(style))),
      ...(atLeast && !log ? [[atLeast.min, atLeast.max]] : []),
    ],
    keep,
  );
  if (x === undefined || y === undefined) return undefined;
  const across = Math.max(2, Math.floor(columns / COLUMNS_PER_TICK));
  const down = Math.floor(rows / ROWS_PER_TICK);
  return { x: positionScale(x.min, x.max, across, axis), y: valueScale(y.min, y.max, down, { log }) };
}

/** Without colours, a smoothed line looks the same as the line behind it. */
function showsBehind(style: ChartStyle): boolean {
  return style.colours > 0;
}

function titleLine({ title, remark }: Chart, { columns }: ChartSize, style: ChartStyle): string {
  const name = cut(title, columns);
  const room = columns - widthOf(name) - 2;
  return bold(style, name) + (remark === "" || room < 8 ? "" : dimmed(style, `  ${cut(remark, room)}`));
}

/** Where lines do not differ in colour. */
function needsMarkers({ lines }: Chart, style: ChartStyle): boolean {
  return lines.length > (style.colours === 0 ? 1 : COLOURS) && style.shape.down > 1;
}

/** Cells by their number, and whose marker is there; the first one wins. */
function placeMarkers(
  markers: Map<number, number>,
  rows: ReadonlyMap<number, number>,
  owner: number,
  columns: number,
): void {
  const last = Math.max(...rows.keys());
  for (const [column, row] of rows) {
    // Each line begins elsewhere, so that markers of near lines do not cover each other.
    if ((column + owner * 5) % MARKER_EVERY === 0 || column === last)
      markers.set(row * columns + column, owner);
  }
}

function plotRows(
  grid: DotGrid,
  scale: Scale,
  markers: ReadonlyMap<number, number>,
  labelWidth: number,
  style: ChartStyle,
): string[] {
  const labels = new Map<number, string>();
  for (const { at, label } of scale.ticks) {
    labels.set(Math.floor(grid.dotY(scale.place(at)) / grid.shape.down), label);
  }
  return Array.from({ length: grid.rows }, (_, row) => {
    const label = labels.get(row);
    const edge = label === undefined ? style.frame.down : style.frame.tickDown;
    return dimmed(style, `${padStart(label ?? "", labelWidth)} ${edge}`) + rowText(grid, row, markers, style);
  });
}

/** Neighbours of one colour are written in one go. */
function rowText(
  grid: DotGrid,
  row: number,
  markers: ReadonlyMap<number, number>,
  style: ChartStyle,
): string {
  let text = "";
  let piece = "";
  let look = { owner: -1, faint: false };
  const flush = () => {
    text += look.owner < 0 ? piece : inColour(style, look.owner, piece, look);
    piece = "";
  };
  for (let column = 0; column < grid.columns; column++) {
    const cell = grid.cell(column, row);
    const marker = markers.get(row * grid.columns + column);
    const { owner, faint } = marker === undefined ? cell : { owner: marker, faint: false };
    if (owner !== look.owner || faint !== look.faint) {
      flush();
      look = { owner, faint };
    }
    piece += marker === undefined ? cellText(style, cell) : markerOf(style, marker);
  }
  flush();
  return text.trimEnd();
}

function axisRows(
  scale: Scale,
  columns: number,
  labelWidth: number,
  axis: AxisKind,
  style: ChartStyle,
): string[] {
  const line = Array.from({ length: columns }, () => style.frame.across);
  let labels = "";
  const name = axis === "elapsed" ? "since the start" : axis;
  const room = columns - name.length - 2;
  for (const { at, label } of scale.ticks) {
    const column = Math.min(columns - 1, Math.floor(scale.place(at) * columns));
    line[column] = style.frame.tickAcross;
    const from = Math.max(0, column - Math.floor(label.length / 2));
    if (from + label.length > room || (labels !== "" && from < labels.length + 2)) continue;
    labels = padEnd(labels, from) + label;
  }
  const gap = " ".repeat(labelWidth + 1);
  return [
    dimmed(style, `${gap}${style.frame.corner}${line.join("")}`),
    dimmed(style, `${gap} ${padEnd(labels, columns - name.length)}${name}`),
  ];
}

function legend(chart: Chart, { columns }: ChartSize, style: ChartStyle): string[] {
  const named = chart.lines.slice(0, NAMED_MAX);
  if (named.length === 0) return [];
  const cells = named.map((line) => {
    const { marks } = line;
    const extent = extentOf([marks.low, marks.high], (value) => !Number.isNaN(value));
    const numbers = [
      `last ${formatNumber(marks.last.at(-1) ?? NaN)}`,
      ...(extent === undefined ? [] : [`min ${formatNumber(extent.min)}`, `max ${formatNumber(extent.max)}`]),
    ];
    return {
      name: line.name,
      numbers,
      form: [line.form, line.missing].filter((text) => text !== "").join(", "),
    };
  });
  const nameMax = Math.max(...cells.map(({ name }) => widthOf(name)));
  const formWidth = Math.max(...cells.map(({ form }) => form.length));
  // The description of a line is never cut: the numbers are dropped first, then the name is cut.
  const widths = [0, 1, 2].map((i) => Math.max(...cells.map(({ numbers }) => numbers[i]?.length ?? 0)));
  const room = () => columns - widths.reduce((sum, width) => sum + width + 2, 5 + formWidth);
  while (widths.length > 1 && room() < Math.min(nameMax, NAME_MIN)) widths.pop();
  const nameWidth = Math.min(nameMax, Math.max(SHORT_NAME, room()));
  const lines = cells.map(({ name, numbers, form }, owner) => {
    const mark = inColour(
      style,
      owner,
      style.colours === 0 || needsMarkers(chart, style) ? markerOf(style, owner) : "━",
    );
    const values = widths.map((width, i) => padEnd(numbers[i] ?? "", width)).join("  ");
    return ` ${mark} ${padEnd(cut(name, nameWidth), nameWidth)}  ${values}  ${dimmed(style, form)}`;
  });
  const more = chart.lines.length - named.length;
  return more > 0 ? [...lines, dimmed(style, `   and ${more} more lines`)] : lines;
}
