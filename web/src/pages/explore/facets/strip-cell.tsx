import { useCallback, useRef } from "react";
import { axisOf } from "../columns/axis.ts";
import { CanvasLayer, useRoom, type Paint } from "../canvas-layer.tsx";
import type { ExploredColumn } from "../columns/explored-column.ts";
import { hueColour, type FacetGrid } from "./facet-grid.ts";
import type { FacetCell } from "./facets.ts";
import styles from "./facets.module.css";
import { medianOf } from "../strip.ts";

const LEFT = 48;
const PAD = 10;

/** The objective of the runs of a cell, a column for each hue, with its median. All cells share the scale. */
export function StripCell({
  cell,
  grid,
  judged,
  shares,
  dark,
  height,
}: {
  cell: FacetCell;
  grid: FacetGrid;
  judged: ExploredColumn;
  shares: Float64Array;
  dark: boolean;
  height: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useRoom(box);
  const paint = useCallback<Paint>(
    (pen, ink) => {
      const axis = axisOf(judged, undefined, Math.max(2, Math.floor(height / 36)));
      const yAt = (value: number) => height - PAD - axis.placeOf(value) * (height - 2 * PAD);
      pen.font = ink.font;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const { place, label } of axis.ticks) {
        const y = Math.round(height - PAD - place * (height - 2 * PAD));
        pen.fillStyle = ink.grid;
        pen.fillRect(LEFT, y, width - LEFT - 4, 1);
        pen.fillStyle = ink.label;
        pen.fillText(label, LEFT - 6, y);
      }
      const groups = grid.hue?.values.length ?? 1;
      const room = (width - LEFT - 8) / groups;
      const perGroup: number[][] = Array.from({ length: groups }, () => []);
      for (const [i, row] of cell.runs.entries()) {
        const value = judged.values[row]!;
        const group = grid.hue === undefined ? 0 : grid.hue.places[row]!;
        if (Number.isNaN(value) || group < 0) continue;
        perGroup[group]!.push(value);
        const jitter =
          (((Math.imul(i + 1, 0x9e3779b1) >>> 8) & 0xffff) / 0xffff - 0.5) * Math.min(room * 0.6, 60);
        pen.fillStyle = hueColour(grid, row, shares[row]!, dark, ink.label);
        pen.globalAlpha = 0.7;
        pen.fillRect(LEFT + room * (group + 0.5) + jitter - 2, yAt(value) - 2, 4, 4);
        pen.globalAlpha = 1;
      }
      pen.fillStyle = ink.text;
      for (const [group, values] of perGroup.entries()) {
        // Not shown for a single value.
        const median = values.length < 2 ? undefined : medianOf(values);
        const half = Math.min(room * 0.35, 36);
        if (median !== undefined)
          pen.fillRect(LEFT + room * (group + 0.5) - half, yAt(median) - 1, 2 * half, 2);
      }
    },
    [cell, grid, judged, shares, dark, width, height],
  );
  const count = cell.runs.filter((row) => !Number.isNaN(judged.values[row]!)).length;
  return (
    <div
      ref={box}
      className={styles.strip}
      style={{ height }}
      role="img"
      aria-label={`${count} values of ${judged.label}`}
    >
      <CanvasLayer width={width} height={height} paint={paint} />
    </div>
  );
}
