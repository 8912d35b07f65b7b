import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState, type PointerEvent } from "react";
import { highlightedRun } from "../../../charts/highlighted-run.ts";
import { Button } from "../../../widgets/button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../../widgets/name.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { frontierOfRuns, type Frontier } from "../answers/queries.ts";
import { AxisMenu } from "../axis-menu.tsx";
import { axisOf, brushBetween, type Axis } from "../columns/axis.ts";
import { CanvasLayer, useRoom, type Paint } from "../canvas-layer.tsx";
import type { ExploredColumn } from "../columns/explored-column.ts";
import styles from "../picture.module.css";
import { sharesOf, type ExploreViewProps } from "../explore-view.ts";
import { FrontierPanel } from "../frontier/frontier-panel.tsx";
import { cornersOf, goalsOf, isFor, withRoomFor } from "../frontier/frontier.ts";
import { HighlightedCard, useHighlightedRow, useRowOf } from "../highlighted-run.tsx";
import { paintFrontier, paintPoints, paintRing, paintScatterAxes, pointColours } from "./paint-scatter.ts";
import { bestFirst, RunFigures } from "../figures/run-figures.tsx";
import { layOutScatter, nearestPoint, placeOfX, placeOfY, type ScatterLayout } from "./scatter-points.ts";
import { ScatterTools } from "./scatter-tools.tsx";
import { scatterFields, type ScatterFields } from "./scatter-fields.ts";

const TICK_X_PX = 90;
const TICK_Y_PX = 40;
const REACH_PX = 14;
const DRAG_MIN_PX = 5;
const CONTEXT_ALPHA = 0.16;
const POINT_ALPHA = 0.8;

/** Two properties against each other, with the Pareto frontier that the server computes. */
export function ScatterView(props: ExploreViewProps) {
  const { table, search, mask, remaining, dark } = props;
  const fields = scatterFields(props);
  const { x: xColumn, y: yColumn, colour, size } = fields;
  const { frontier, ...panel } = useFrontier(props, fields);
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useRoom(box);
  const { axes, layout, shares, corners, missing } = useScatter(props, fields, frontier, width, height);
  const context = useCallback<Paint>(
    (pen, ink) => {
      if (layout === undefined || axes === undefined) return;
      paintScatterAxes(pen, ink, layout, ...axes);
      const all = new Uint8Array(mask.length).fill(1);
      if (remaining < all.length) paintPoints(pen, layout, all, () => ink.label, CONTEXT_ALPHA);
    },
    [layout, axes, remaining < mask.length, dark],
  );
  const points = useCallback<Paint>(
    (pen, ink) => {
      if (layout === undefined) return;
      paintPoints(pen, layout, mask, pointColours(colour, shares, dark, ink.label), POINT_ALPHA);
      if (frontier !== undefined && corners !== undefined) {
        paintFrontier(pen, ink, corners, frontier.goals[0].goal === "min");
      }
    },
    [layout, mask, colour, shares, dark, frontier, corners],
  );
  const columns = [xColumn, yColumn, colour, size].flatMap((column) => column ?? []);
  const shown = [...new Map(columns.map((column) => [column.text, column])).values()];
  return (
    <div className={styles.view}>
      <ScatterTools {...props} fields={fields} />
      <div className={styles.halves}>
        <div className={styles.picture} ref={box}>
          {axes === undefined || layout === undefined ? (
            <EmptyState title="Nothing to plot">
              <p>Choose a property for x and one for y above.</p>
            </EmptyState>
          ) : (
            <div className={styles.inner} style={{ width, height }}>
              <div
                className={styles.layers}
                style={{ top: 0, height }}
                role="img"
                aria-label={`${remaining - missing} runs by ${axes[0].column.label} and ${axes[1].column.label}${
                  frontier === undefined ? "" : `, ${frontier.totalCount} on the Pareto frontier`
                }`}
              >
                <CanvasLayer width={width} height={height} paint={context} />
                <CanvasLayer width={width} height={height} paint={points} />
              </div>
              <Pointed {...props} layout={layout} axes={axes} columns={shown} />
              {axes.map((axis, i) => (
                <div key={i} className={i === 0 ? styles.xName : styles.yName}>
                  <AxisName {...props} axis={axis} />
                </div>
              ))}
            </div>
          )}
        </div>
        <FrontierPanel {...panel} />
      </div>
      {missing > 0 && (
        <p className={styles.remark}>
          {formatCount(missing)} of the runs that remain {missing === 1 ? "has" : "have"} no value for x or y
          and {missing === 1 ? "is" : "are"} not drawn.
        </p>
      )}
      {search.table && (
        <RunFigures
          label="Figures of the points"
          table={table}
          rows={bestFirst(mask, shares)}
          columns={shown}
        />
      )}
    </div>
  );
}

/** The marked frontier, and the content of its panel: while the next answer is loading, the last one. */
function useFrontier({ namespace, asked }: ExploreViewProps, fields: ScatterFields) {
  const goals = goalsOf(fields);
  const query = "query" in asked ? asked.query : undefined;
  const answer = useQuery(frontierOfRuns(namespace, query, goals));
  const isMarked = query !== undefined && answer.data !== undefined && isFor(answer.data, goals);
  return {
    frontier: isMarked ? answer.data : undefined,
    answer,
    hasGoals: goals !== undefined,
    problem: "problem" in asked ? asked.problem : undefined,
  };
}

/** Where the points are, their colours, and the corners of the frontier. */
function useScatter(
  props: ExploreViewProps,
  fields: ScatterFields,
  frontier: Frontier | undefined,
  width: number,
  height: number,
) {
  const { table, search, mask } = props;
  const { x: xColumn, y: yColumn, colour, size } = fields;
  const rowOf = useRowOf(table);
  const axes = useMemo((): [Axis, Axis] | undefined => {
    if (xColumn === undefined || yColumn === undefined) return undefined;
    const axisFor = (column: ExploredColumn, goal: 0 | 1, ticksMax: number) =>
      axisOf(
        frontier === undefined ? column : withRoomFor(column, frontier, goal, rowOf),
        search.scale?.[column.text],
        Math.max(2, ticksMax),
      );
    return [
      axisFor(xColumn, 0, Math.floor(width / TICK_X_PX)),
      axisFor(yColumn, 1, Math.floor(height / TICK_Y_PX)),
    ];
  }, [xColumn, yColumn, search.scale, frontier, rowOf, width, height]);
  const layout = useMemo(
    () => (axes === undefined ? undefined : layOutScatter(axes[0], axes[1], size, width, height)),
    [axes, size, width, height],
  );
  const shares = useMemo(
    () => sharesOf(colour, fields.colourGoal, table.runs.length),
    [colour, fields.colourGoal, table],
  );
  const corners = useMemo(
    () =>
      frontier === undefined || axes === undefined || layout === undefined
        ? undefined
        : cornersOf(frontier, layout, axes, rowOf),
    [frontier, axes, layout, rowOf],
  );
  const missing = useMemo(
    () =>
      layout === undefined
        ? 0
        : mask.reduce((sum, bit, i) => sum + (bit === 1 && Number.isNaN(layout.xs[i]!) ? 1 : 0), 0),
    [layout, mask],
  );
  return { axes, layout, shares, corners, missing };
}

function AxisName({ axis, brushes, search, onBrush, onSearch }: ExploreViewProps & { axis: Axis }) {
  const { text, label } = axis.column;
  const isBrushed = brushes[text] !== undefined;
  return (
    <AxisMenu
      axis={axis}
      brush={brushes[text]}
      trigger={
        <Button
          quiet
          className={isBrushed ? `${styles.axisName} ${styles.brushed}` : styles.axisName}
          aria-label={`Axis ${visibleText(label)}`}
        >
          <Name text={label} />
        </Button>
      }
      onBrush={(brush) => onBrush({ [text]: brush })}
      onScale={(scale) => onSearch({ scale: { ...search.scale, [text]: scale } })}
    />
  );
}

interface Box {
  fromX: number;
  fromY: number;
  toX: number;
  toY: number;
}

/** The overlay: the nearest point is named, a click opens its run, a box filters by x and y. */
function Pointed({
  table,
  mask,
  layout,
  axes,
  columns,
  onBrush,
  onOpen,
}: ExploreViewProps & {
  layout: ScatterLayout;
  axes: readonly [Axis, Axis];
  columns: Parameters<typeof HighlightedCard>[0]["columns"];
}) {
  const row = useHighlightedRow(table);
  const [at, setAt] = useState<{ x: number; y: number }>();
  const [box, setBox] = useState<Box>();
  const paint = useCallback<Paint>(
    (pen, ink) => {
      if (row >= 0) paintRing(pen, ink.text, layout.xs[row]!, layout.ys[row]!, layout.radii[row]! + 4);
    },
    [row, layout],
  );
  const placeOf = (event: PointerEvent<HTMLElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const isDrawn = box !== undefined && Math.hypot(box.toX - box.fromX, box.toY - box.fromY) >= DRAG_MIN_PX;
  const brushOf = ({ fromX, fromY, toX, toY }: Box) => ({
    [axes[0].column.text]: brushBetween(axes[0], placeOfX(layout, fromX), placeOfX(layout, toX), false),
    [axes[1].column.text]: brushBetween(axes[1], placeOfY(layout, fromY), placeOfY(layout, toY), false),
  });
  return (
    <div
      className={row < 0 ? styles.surface : `${styles.surface} ${styles.onLine}`}
      style={{ top: 0, height: layout.height }}
      data-surface="scatter"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        const { x, y } = placeOf(event);
        setBox({ fromX: x, fromY: y, toX: x, toY: y });
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const { x, y } = placeOf(event);
        if (box !== undefined) {
          setBox({ ...box, toX: x, toY: y });
          return;
        }
        const found = nearestPoint(layout, mask, x, y, REACH_PX);
        highlightedRun.set(found < 0 ? undefined : table.runs[found]!.id);
        setAt({ x, y });
      }}
      onPointerUp={() => {
        setBox(undefined);
        if (box === undefined) return;
        if (isDrawn) onBrush(brushOf(box));
        else if (row >= 0) onOpen(table.runs[row]!);
      }}
      onPointerCancel={() => setBox(undefined)}
      onPointerLeave={() => {
        highlightedRun.set(undefined);
        setAt(undefined);
      }}
    >
      <CanvasLayer width={layout.width} height={layout.height} paint={paint} />
      {box !== undefined && isDrawn && <BrushBox box={box} />}
      {row >= 0 && at !== undefined && box === undefined && (
        <HighlightedCard
          table={table}
          row={row}
          columns={columns}
          x={at.x}
          y={Math.min(at.y, layout.height - 120)}
          width={layout.width}
        />
      )}
    </div>
  );
}

function BrushBox({ box: { fromX, fromY, toX, toY } }: { box: Box }) {
  return (
    <div
      className={styles.brush}
      style={{
        left: Math.min(fromX, toX),
        right: "auto",
        top: Math.min(fromY, toY),
        width: Math.abs(toX - fromX),
        height: Math.abs(toY - fromY),
      }}
    />
  );
}
