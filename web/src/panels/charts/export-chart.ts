import { inkOf } from "../../charts/paint/canvas.ts";
import { chartCsv } from "../../charts/chart-csv.ts";
import type { PictureOptions } from "../../charts/chart-picture.ts";
import {
  HEAT_SHEET_HEIGHT,
  paintHeatSheet,
  paintSheet,
  SHEET,
  sheetHeight,
} from "../../charts/chart-sheet.ts";
import type { Line } from "../../charts/lines/line.ts";
import type { Pen } from "../../charts/paint/pen.ts";
import { SvgPen } from "../../charts/paint/svg-pen.ts";
import { visibleText } from "../../prepare/visible-text.ts";
import { download, downloadText } from "../../widgets/download.ts";
import { drawingOf } from "./key-drawing.ts";
import { axisOf, type PanelView } from "./panel-view.ts";

const PNG_RATIO = 2;

/** The picture to save: a heat map if that is shown. */
export interface ShownChart {
  readonly key: string;
  readonly lines: readonly Line[];
  readonly view: PanelView;
  readonly isHeat: boolean;
}

export function exportPng(shown: ShownChart): void {
  const canvas = document.createElement("canvas");
  canvas.width = SHEET.width * PNG_RATIO;
  canvas.height = heightOf(shown) * PNG_RATIO;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  pen.scale(PNG_RATIO, PNG_RATIO);
  paint(pen, shown);
  canvas.toBlob((blob) => {
    if (blob !== null) download(fileName(shown.key, "png"), blob);
  }, "image/png");
}

export function exportSvg(shown: ShownChart): void {
  const pen = new SvgPen();
  paint(pen, shown);
  const svg = pen.toSvg(SHEET.width, heightOf(shown));
  downloadText(fileName(shown.key, "svg"), "image/svg+xml", svg);
}

function heightOf({ lines, isHeat }: ShownChart): number {
  return isHeat ? HEAT_SHEET_HEIGHT : sheetHeight(lines);
}

function paint(pen: Pen, { key, lines, view, isHeat }: ShownChart): void {
  const ink = inkOf(document.body);
  const options = optionsOf(key, view);
  if (isHeat) paintHeatSheet(pen, visibleText(key), lines, { ...options, dark: view.dark }, ink);
  else paintSheet(pen, visibleText(key), lines, options, ink);
}

export function exportCsv({ key, lines, view }: ShownChart): void {
  const { xKind } = axisOf(view);
  downloadText(fileName(key, "csv"), "text/csv", chartCsv(key, lines, xKind, view.xKey));
}

function optionsOf(key: string, view: PanelView): PictureOptions {
  const { log, clip, smoothing } = view;
  const { xKind, range } = axisOf(view);
  const { fixedY } = drawingOf(view.descriptions?.get(key));
  return { xKind, log, clip, smoothing, zoom: range, zoomY: view.yRanges.get(key), fixedY };
}

function fileName(key: string, ending: string): string {
  return `${key.replaceAll(/[^\w.-]+/g, "_").slice(0, 100) || "chart"}.${ending}`;
}
