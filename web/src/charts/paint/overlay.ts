import type { Frame } from "./frame.ts";
import { nearestIndex } from "../lines/line.ts";
import { clipped, type Drawn, paintLine, widthOf } from "./paint.ts";
import type { Ink, Pen } from "./pen.ts";

/** The layer over the lines, which changes with every move of the pointer. */
export interface Overlay {
  /** The position of the crosshair on the x axis. */
  cursor?: number | undefined;
  /** The highlighted run. */
  highlighted?: string | undefined;
  /** The part that is being dragged over, in pixels. */
  drag?: { fromX: number; toX: number; fromY: number; toY: number } | undefined;
}

const DOT = 3;

/** True when a line of the highlighted run is in this chart, so that the others are dimmed. */
export function isHighlighted(drawn: readonly Drawn[], highlighted: string | undefined): boolean {
  return highlighted !== undefined && drawn.some(({ line }) => line.runId === highlighted);
}

export function paintOverlay(
  pen: Pen,
  frame: Frame,
  drawn: readonly Drawn[],
  { cursor, highlighted, drag }: Overlay,
  ink: Ink,
): void {
  const highlightedLines =
    highlighted === undefined ? [] : drawn.filter(({ line }) => line.runId === highlighted);
  clipped(pen, frame, () => {
    for (const each of highlightedLines) paintLine(pen, frame, each, widthOf(each.line) + 0.9);
  });
  if (drag !== undefined) {
    pen.globalAlpha = 0.16;
    pen.fillStyle = ink.text;
    pen.fillRect(
      Math.min(drag.fromX, drag.toX),
      Math.min(drag.fromY, drag.toY),
      Math.abs(drag.toX - drag.fromX),
      Math.abs(drag.toY - drag.fromY),
    );
    pen.globalAlpha = 1;
  }
  if (cursor === undefined) return;
  const x = frame.x.toPlace(cursor);
  if (!(x >= frame.left - 1 && x <= frame.right + 1)) return;
  pen.strokeStyle = ink.label;
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  pen.moveTo(Math.round(x) + 0.5, frame.top);
  pen.lineTo(Math.round(x) + 0.5, frame.bottom);
  pen.stroke();
  pen.setLineDash([]);
  for (const { line, calm } of highlightedLines) {
    const index = nearestIndex(line.x, cursor);
    if (index < 0) continue;
    const at = frame.x.toPlace(line.x[index]!);
    const y = frame.y.toPlace((calm ?? line.y)[index]!);
    if (Number.isNaN(y) || y < frame.top - DOT || y > frame.bottom + DOT || at < frame.left - DOT) continue;
    pen.fillStyle = ink.panel;
    pen.fillRect(at - DOT - 1, y - DOT - 1, 2 * DOT + 2, 2 * DOT + 2);
    pen.fillStyle = line.colour;
    pen.fillRect(at - DOT, y - DOT, 2 * DOT, 2 * DOT);
  }
}
