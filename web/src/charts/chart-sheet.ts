import { heatOf, paintHeat } from "./paint/heat.ts";
import { paintHeatLegend } from "./paint/heat-legend.ts";
import { drawnOf, pictureOf, type PictureOptions } from "./chart-picture.ts";
import type { Line } from "./lines/line.ts";
import { paintFrame, paintLines } from "./paint/paint.ts";
import type { Ink, Pen } from "./paint/pen.ts";

export const SHEET = { width: 800, chartHeight: 400 } as const;
const HEAD = 32;
const LEGEND_ROW = 18;
const LEGEND_MAX = 20;
const COLUMNS = 2;
const NAME_MAX = 48;

export function sheetHeight(lines: readonly Line[]): number {
  const named = Math.min(lines.length, LEGEND_MAX);
  return HEAD + SHEET.chartHeight + Math.ceil(named / COLUMNS) * LEGEND_ROW + 20;
}

/** A chart for a paper or a message: title, plot and legend on the colour of a panel. */
export function paintSheet(
  pen: Pen,
  title: string,
  lines: readonly Line[],
  options: PictureOptions,
  ink: Ink,
): void {
  paintGround(pen, title, sheetHeight(lines), ink);
  paintLegend(pen, lines, ink);
  const picture = pictureOf(lines, SHEET.width, SHEET.chartHeight, options, HEAD);
  if (picture === undefined) return;
  paintFrame(pen, picture.frame, ink);
  paintLines(pen, picture.frame, drawnOf(lines, options.smoothing), ink);
}

export const HEAT_SHEET_HEIGHT = HEAD + SHEET.chartHeight + 20;

/** The same for a heat map, whose rows are named beside it. */
export function paintHeatSheet(
  pen: Pen,
  title: string,
  lines: readonly Line[],
  options: PictureOptions & { dark: boolean },
  ink: Ink,
): void {
  paintGround(pen, title, HEAT_SHEET_HEIGHT, ink);
  const heat = heatOf(lines, SHEET.width, SHEET.chartHeight, options, HEAD);
  if (heat === undefined) return;
  paintFrame(pen, heat.frame, ink);
  paintHeatLegend(pen, heat, options.dark, ink);
  paintHeat(pen, heat, drawnOf(lines, options.smoothing), options, ink);
}

function paintGround(pen: Pen, title: string, height: number, ink: Ink): void {
  pen.fillStyle = ink.panel;
  pen.fillRect(0, 0, SHEET.width, height);
  pen.fillStyle = ink.text;
  pen.font = `600 14px ${ink.font.slice(ink.font.indexOf(" ") + 1)}`;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillText(title, 12, HEAD / 2 + 2);
}

function paintLegend(pen: Pen, lines: readonly Line[], ink: Ink): void {
  const top = HEAD + SHEET.chartHeight + 14;
  pen.font = ink.font;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (const [i, line] of lines.slice(0, LEGEND_MAX).entries()) {
    const x = 12 + (i % COLUMNS) * (SHEET.width / COLUMNS);
    const y = top + Math.floor(i / COLUMNS) * LEGEND_ROW;
    pen.strokeStyle = line.colour;
    pen.lineWidth = 2.5;
    pen.setLineDash([...line.dash]);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + 22, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = ink.text;
    pen.fillText(nameOf(line, i, lines.length), x + 30, y);
  }
}

function nameOf(line: Line, index: number, count: number): string {
  const name = line.name.length > NAME_MAX ? `${line.name.slice(0, NAME_MAX - 1)}…` : line.name;
  return index === LEGEND_MAX - 1 && count > LEGEND_MAX ? `${name} and ${count - LEGEND_MAX} more` : name;
}
