import { rampColour } from "../../../charts/paint/palette.ts";
import type { Ink, Pen } from "../../../charts/paint/pen.ts";
import type { Axis } from "../columns/axis.ts";
import { bundlesOf } from "./bundles.ts";
import { yOf, type ParallelLayout } from "./parallel-layout.ts";

/** Colours of lines are so many steps of the ramp: each is one stroke. */
const RAMP_STEPS = 20;
/** More lines than these are drawn as bundles. */
const LINES_MAX = 1_500;
const BUNDLE_BINS = 36;
const BUNDLE_WIDTH_MAX = 5;

export interface LinesToPaint {
  readonly layout: ParallelLayout;
  readonly mask: Uint8Array;
  readonly count: number;
  /** 0 to 1 from worst to best; NaN without a value. */
  readonly shares: Float64Array;
  readonly dark: boolean;
}

/** All runs as a faint background for those that remain. */
export function paintContext(
  pen: Pen,
  ink: Ink,
  { layout, count, shares }: Omit<LinesToPaint, "mask">,
): void {
  const all = new Uint8Array(shares.length).fill(1);
  pen.strokeStyle = ink.label;
  pen.globalAlpha = Math.max(0.06, Math.min(0.25, 12 / Math.sqrt(count)));
  pen.lineWidth = 1;
  pen.beginPath();
  if (count <= LINES_MAX) for (let run = 0; run < all.length; run++) trace(pen, layout, run);
  else {
    for (let gap = 0; gap + 1 < layout.xs.length; gap++) {
      for (const { from, to } of bundlesOf(
        layout.places[gap]!,
        layout.places[gap + 1]!,
        shares,
        all,
        BUNDLE_BINS,
      )) {
        pen.moveTo(layout.xs[gap]!, yOf(layout, from));
        pen.lineTo(layout.xs[gap + 1]!, yOf(layout, to));
      }
    }
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

/** The runs that remain, coloured by the objective; the best on top. */
export function paintRemaining(pen: Pen, ink: Ink, lines: LinesToPaint): void {
  pen.lineJoin = "round";
  if (lines.count > LINES_MAX) paintBundles(pen, ink, lines);
  else paintEach(pen, ink, lines);
  pen.globalAlpha = 1;
}

function paintEach(pen: Pen, ink: Ink, { layout, mask, count, shares, dark }: LinesToPaint): void {
  const steps: number[][] = Array.from({ length: RAMP_STEPS + 1 }, () => []);
  for (let run = 0; run < mask.length; run++) if (mask[run] === 1) steps[stepOf(shares[run]!)]!.push(run);
  pen.lineWidth = count > 400 ? 1 : 1.4;
  pen.globalAlpha = count > 400 ? 0.55 : 0.85;
  for (const [step, runs] of steps.entries()) {
    if (runs.length === 0) continue;
    pen.strokeStyle = colourOf(step, ink, dark);
    pen.beginPath();
    for (const run of runs) trace(pen, layout, run);
    pen.stroke();
  }
}

function paintBundles(pen: Pen, ink: Ink, { layout, mask, count, shares, dark }: LinesToPaint): void {
  for (let gap = 0; gap + 1 < layout.xs.length; gap++) {
    const bundles = bundlesOf(layout.places[gap]!, layout.places[gap + 1]!, shares, mask, BUNDLE_BINS);
    // One stroke per colour and width.
    const strokes = new Map<number, typeof bundles>();
    for (const bundle of bundles) {
      const width = widthOf(bundle.count, count);
      const stroke = stepOf(bundle.share) * 8 + width;
      const known = strokes.get(stroke);
      if (known === undefined) strokes.set(stroke, [bundle]);
      else known.push(bundle);
    }
    for (const [stroke, same] of [...strokes].toSorted(([a], [b]) => a - b)) {
      pen.strokeStyle = colourOf(Math.floor(stroke / 8), ink, dark);
      pen.lineWidth = stroke % 8;
      pen.globalAlpha = 0.35 + 0.1 * (stroke % 8);
      pen.beginPath();
      for (const { from, to } of same) {
        pen.moveTo(layout.xs[gap]!, yOf(layout, from));
        pen.lineTo(layout.xs[gap + 1]!, yOf(layout, to));
      }
      pen.stroke();
    }
  }
}

function widthOf(count: number, all: number): number {
  return Math.max(1, Math.min(BUNDLE_WIDTH_MAX, Math.round(40 * Math.sqrt(count / all))));
}

/** Without a share first, so that everything else is over it. */
function stepOf(share: number): number {
  return share === share ? 1 + Math.min(RAMP_STEPS - 1, Math.floor(share * RAMP_STEPS)) : 0;
}

function colourOf(step: number, ink: Ink, dark: boolean): string {
  return step === 0 ? ink.label : rampColour((step - 1) / (RAMP_STEPS - 1), dark);
}

function trace(pen: Pen, { xs, ys }: ParallelLayout, run: number): void {
  for (const [i, x] of xs.entries()) {
    const y = ys[i]![run]!;
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  }
}

/** Axes with their ticks, and the line of none where a run has none. */
export function paintAxes(pen: Pen, ink: Ink, layout: ParallelLayout, axes: readonly Axis[]): void {
  pen.font = ink.font;
  pen.textBaseline = "middle";
  for (const [i, axis] of axes.entries()) {
    const x = layout.xs[i]!;
    pen.strokeStyle = ink.label;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(Math.round(x) + 0.5, layout.top);
    pen.lineTo(Math.round(x) + 0.5, layout.bottom);
    pen.stroke();
    // The labels of the last axis would be outside the edge.
    const isLast = i === axes.length - 1 && axes.length > 1;
    pen.textAlign = isLast ? "right" : "left";
    const at = isLast ? x - 7 : x + 7;
    for (const { place, label } of axis.ticks) {
      const y = yOf(layout, place);
      pen.fillStyle = ink.label;
      pen.fillRect(x - 3, Math.round(y), 6, 1);
      paintWord(pen, ink, label, at, y);
    }
    if (axis.hasNone) {
      pen.fillStyle = ink.label;
      pen.fillRect(x - 3, Math.round(layout.noneY), 6, 1);
      paintWord(pen, ink, "none", at, layout.noneY);
    }
  }
}

/** Labels over lines have a background. */
function paintWord(pen: Pen, ink: Ink, text: string, x: number, y: number): void {
  const width = text.length * 6.2 + 4;
  pen.globalAlpha = 0.78;
  pen.fillStyle = ink.panel;
  pen.fillRect(pen.textAlign === "right" ? x - width + 2 : x - 2, y - 7, width, 14);
  pen.globalAlpha = 1;
  pen.fillStyle = ink.text;
  pen.fillText(text, x, y);
}

/** The run under the pointer, over everything. */
export function paintHighlighted(
  pen: Pen,
  ink: Ink,
  layout: ParallelLayout,
  run: number,
  colour: string,
): void {
  for (const [width, stroke] of [
    [5, ink.panel],
    [2.5, colour],
  ] as const) {
    pen.lineWidth = width;
    pen.strokeStyle = stroke;
    pen.beginPath();
    trace(pen, layout, run);
    pen.stroke();
  }
  pen.fillStyle = colour;
  for (const [i, x] of layout.xs.entries()) pen.fillRect(x - 3, layout.ys[i]![run]! - 3, 6, 6);
}
