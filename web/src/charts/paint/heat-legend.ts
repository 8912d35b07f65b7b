import type { Frame } from "./frame.ts";
import { heatColour } from "./palette.ts";
import type { Ink, Pen } from "./pen.ts";
import { formatNumber } from "#lang/words/numbers.ts";

/** Room above the rows. */
export const HEAT_LEGEND_PX = 16;
const BAR_PX = 72;
const BAR_HEIGHT_PX = 8;
const CELL_PX = 3;
const LABEL_PX = 6.4;
const GAP_PX = 6;

/** The legend of the colours, from the lowest to the highest value, above the right end of the rows. */
export function paintHeatLegend(
  pen: Pen,
  { frame, from, to }: { frame: Frame; from: number; to: number },
  dark: boolean,
  ink: Ink,
): void {
  const [low, high] = [formatNumber(from, { digits: 5 }), formatNumber(to, { digits: 5 })];
  const right = frame.right - high.length * LABEL_PX - GAP_PX;
  const left = right - BAR_PX;
  const middle = frame.top - 2 - HEAT_LEGEND_PX / 2;
  for (let x = 0; x < BAR_PX; x += CELL_PX) {
    pen.fillStyle = heatColour(x / (BAR_PX - CELL_PX), dark);
    // A little over the edge, so that no seam shows.
    pen.fillRect(
      left + x,
      middle - BAR_HEIGHT_PX / 2,
      CELL_PX + (x + CELL_PX < BAR_PX ? 0.6 : 0),
      BAR_HEIGHT_PX,
    );
  }
  pen.font = ink.font;
  pen.fillStyle = ink.label;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillText(low, left - GAP_PX, middle);
  pen.fillText(high, frame.right, middle);
}
