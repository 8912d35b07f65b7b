import { chartCsv } from "../../charts/chart-csv.ts";
import type { PictureOptions } from "../../charts/chart-picture.ts";
import { paintSheet, SHEET, sheetHeight } from "../../charts/chart-sheet.ts";
import type { Line } from "../../charts/line.ts";
import { inkOf } from "../../charts/series-chart.tsx";
import { SvgPen } from "../../charts/svg-pen.ts";
import { visibleText } from "../../widgets/text.ts";
import { drawingOf } from "./catalogue.ts";
import type { PanelView } from "./panel-view.ts";

const PNG_RATIO = 2;

export function exportPng(key: string, lines: readonly Line[], view: PanelView): void {
  const canvas = document.createElement("canvas");
  canvas.width = SHEET.width * PNG_RATIO;
  canvas.height = sheetHeight(lines) * PNG_RATIO;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  pen.scale(PNG_RATIO, PNG_RATIO);
  paintSheet(pen, visibleText(key), lines, optionsOf(key, view), inkOf(document.body));
  canvas.toBlob((blob) => {
    if (blob !== null) save(blob, key, "png");
  }, "image/png");
}

export function exportSvg(key: string, lines: readonly Line[], view: PanelView): void {
  const pen = new SvgPen();
  paintSheet(pen, visibleText(key), lines, optionsOf(key, view), inkOf(document.body));
  save(new Blob([pen.toSvg(SHEET.width, sheetHeight(lines))], { type: "image/svg+xml" }), key, "svg");
}

export function exportCsv(key: string, lines: readonly Line[], view: PanelView): void {
  save(new Blob([chartCsv(key, lines, view.xKind)], { type: "text/csv" }), key, "csv");
}

function optionsOf(key: string, view: PanelView): PictureOptions {
  const { xKind, log, clip, smoothing, range } = view;
  const { fixedY } = drawingOf(view.descriptions?.get(key));
  return { xKind, log, clip, smoothing, zoom: range, fixedY };
}

const KEPT_MS = 60_000;

function save(blob: Blob, key: string, ending: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${key.replaceAll(/[^\w.-]+/g, "_").slice(0, 100) || "chart"}.${ending}`;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
