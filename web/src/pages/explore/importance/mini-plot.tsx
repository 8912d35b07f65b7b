import { useCallback } from "react";
import { colourAt } from "../../../charts/paint/palette.ts";
import { axisOf } from "../columns/axis.ts";
import { CanvasLayer, type Paint } from "../canvas-layer.tsx";
import type { ExploredColumn } from "../columns/explored-column.ts";
import styles from "./importance.module.css";
import { medianOf } from "../strip.ts";

const WIDTH = 168;
const HEIGHT = 40;
const POINTS_MAX = 600;
const PAD = 4;

/** The objective, upwards, against one param: a dot per run, and for categories the median of each. */
export function MiniPlot({
  column,
  judged,
  mask,
  dark,
}: {
  column: ExploredColumn;
  judged: ExploredColumn;
  mask: Uint8Array;
  dark: boolean;
}) {
  const paint = useCallback<Paint>(
    (pen, ink) => {
      const [x, y] = [axisOf(column, undefined, 4), axisOf(judged, undefined, 4)];
      const rows: number[] = [];
      for (let i = 0; i < mask.length; i++) {
        if (mask[i] === 1 && column.values[i] === column.values[i] && judged.values[i] === judged.values[i])
          rows.push(i);
      }
      const every = Math.max(1, Math.ceil(rows.length / POINTS_MAX));
      const xAt = (value: number) => PAD + x.placeOf(value) * (WIDTH - 2 * PAD);
      const yAt = (value: number) => HEIGHT - PAD - y.placeOf(value) * (HEIGHT - 2 * PAD);
      pen.fillStyle = colourAt(0, dark);
      pen.globalAlpha = 0.55;
      for (let i = 0; i < rows.length; i += every) {
        const row = rows[i]!;
        pen.fillRect(xAt(column.values[row]!) - 1, yAt(judged.values[row]!) - 1, 2, 2);
      }
      pen.globalAlpha = 1;
      if (column.kind !== "category") return;
      pen.fillStyle = ink.text;
      const half = Math.max(2, Math.min(8, (WIDTH - 2 * PAD) / (3 * column.categories.length)));
      for (const [place] of column.categories.entries()) {
        const median = medianOf(
          rows.filter((row) => column.values[row] === place).map((row) => judged.values[row]!),
        );
        if (median !== undefined) pen.fillRect(xAt(place) - half, yAt(median) - 1, 2 * half, 2);
      }
    },
    [column, judged, mask, dark],
  );
  return (
    <span className={styles.mini} style={{ width: WIDTH, height: HEIGHT }}>
      <CanvasLayer width={WIDTH} height={HEIGHT} paint={paint} />
    </span>
  );
}
