import { colourAt, PALETTE_SIZE, rampColour } from "../../../charts/paint/palette.ts";
import type { Ink } from "../../../charts/paint/pen.ts";
import type { Axis } from "../columns/axis.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import type { Corner } from "../frontier/frontier.ts";
import { heightOf, xOf, type ScatterLayout } from "./scatter-points.ts";

type Canvas = CanvasRenderingContext2D;

const RAMP_STEPS = 24;
/** More points than these are squares, which cost less. */
const ROUND_MAX = 4_000;

/** Colours of points by a column: the ramp for numbers, the palette for the first categories, and gray for the others. */
export function pointColours(
  colour: ExploredColumn | undefined,
  shares: Float64Array,
  dark: boolean,
  plain: string,
): (row: number) => string {
  if (colour === undefined) return () => colourAt(0, dark);
  if (colour.kind === "category") {
    return (row) => {
      const place = colour.values[row]!;
      return place < PALETTE_SIZE - 1 ? colourAt(place, dark) : plain;
    };
  }
  const steps = Array.from({ length: RAMP_STEPS }, (_, i) => rampColour(i / (RAMP_STEPS - 1), dark));
  return (row) => {
    const share = shares[row]!;
    return share === share ? steps[Math.min(RAMP_STEPS - 1, Math.floor(share * RAMP_STEPS))]! : plain;
  };
}

export function paintPoints(
  pen: Canvas,
  layout: ScatterLayout,
  mask: Uint8Array,
  colourOf: (row: number) => string,
  alpha: number,
): void {
  const { xs, ys, radii } = layout;
  const perColour = new Map<string, number[]>();
  let count = 0;
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0 || xs[i] !== xs[i]) continue;
    const colour = colourOf(i);
    const rows = perColour.get(colour);
    if (rows === undefined) perColour.set(colour, [i]);
    else rows.push(i);
    count++;
  }
  pen.globalAlpha = alpha;
  for (const [colour, rows] of perColour) {
    pen.fillStyle = colour;
    pen.beginPath();
    for (const i of rows) {
      const r = radii[i]!;
      if (count > ROUND_MAX) pen.rect(xs[i]! - r, ys[i]! - r, 2 * r, 2 * r);
      else {
        pen.moveTo(xs[i]! + r, ys[i]!);
        pen.arc(xs[i]!, ys[i]!, r, 0, 2 * Math.PI);
      }
    }
    pen.fill();
  }
  pen.globalAlpha = 1;
}

export function paintScatterAxes(pen: Canvas, ink: Ink, layout: ScatterLayout, x: Axis, y: Axis): void {
  const { left, right, top, bottom } = layout;
  pen.font = ink.font;
  pen.lineWidth = 1;
  pen.fillStyle = ink.label;
  pen.strokeStyle = ink.grid;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.beginPath();
  for (const { place, label } of y.ticks) {
    const at = Math.round(heightOf(layout, place)) + 0.5;
    pen.moveTo(left, at);
    pen.lineTo(right, at);
    pen.fillText(cut(label, 11), left - 8, at);
  }
  pen.textBaseline = "top";
  pen.textAlign = "center";
  for (const { place, label } of x.ticks) {
    const at = Math.round(xOf(layout, place)) + 0.5;
    pen.moveTo(at, top);
    pen.lineTo(at, bottom);
    pen.fillText(cut(label, 14), at, bottom + 6);
  }
  pen.stroke();
  pen.strokeStyle = ink.label;
  pen.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
}

function cut(text: string, max: number): string {
  const signs = Array.from(text);
  return signs.length > max ? `${signs.slice(0, max - 1).join("")}…` : text;
}

/** A staircase: points behind it are beaten by one of its corners. */
export function paintFrontier(pen: Canvas, ink: Ink, corners: readonly Corner[], isXMin: boolean): void {
  const ordered = corners.toSorted((a, b) => a.x - b.x);
  pen.strokeStyle = ink.text;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 3]);
  pen.beginPath();
  for (const [i, { x, y }] of ordered.entries()) {
    const before = ordered[i - 1];
    if (before === undefined) pen.moveTo(x, y);
    else {
      // From the better x on, y is unchanged until the next corner.
      if (isXMin) pen.lineTo(x, before.y);
      else pen.lineTo(before.x, y);
      pen.lineTo(x, y);
    }
  }
  pen.stroke();
  pen.setLineDash([]);
  for (const { x, y, radius } of ordered) paintRing(pen, ink.text, x, y, radius + 2);
}

export function paintRing(pen: Canvas, colour: string, x: number, y: number, radius: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}
