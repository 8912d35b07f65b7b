import { useCallback, useMemo, useRef, useState } from "react";
import { rampColour } from "../../../charts/paint/palette.ts";
import { highlightedRun } from "../../../charts/highlighted-run.ts";
import { Button } from "../../../widgets/button.tsx";
import { Plus, RotateCcw } from "../../../widgets/icons/icons.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { AxisStrip } from "./axis-strip.tsx";
import { axisOf, type Axis } from "../columns/axis.ts";
import { CanvasLayer, useRoom, type Paint } from "../canvas-layer.tsx";
import { ColourLegend } from "../colour-legend.tsx";
import { defaultAxes } from "../default-fields.ts";
import bars from "../explore.module.css";
import styles from "../picture.module.css";
import { sharesOf, type ExploreViewProps } from "../explore-view.ts";
import { FieldPicker } from "../field-picker.tsx";
import { HighlightedCard, useHighlightedRow } from "../highlighted-run.tsx";
import { paintAxes, paintContext, paintHighlighted, paintRemaining } from "./paint-parallel.ts";
import {
  headWidth,
  layOutParallel,
  nearestLine,
  parallelWidth,
  type ParallelLayout,
} from "./parallel-layout.ts";
import { bestFirst, RunFigures } from "../figures/run-figures.tsx";
import { AXES_MAX, type Goal } from "../search.ts";

const TICK_PX = 40;
const HEAD_PX = 34;
const REACH_PX = 10;

/** A line per run through its values; a part of an axis filters. */
export function ParallelView(props: ExploreViewProps) {
  const { table, listed, known, search, objective, judged, brushes, mask, remaining, onSearch, onBrush } =
    props;
  const texts = search.axes ?? defaultAxes(listed, objective, known);
  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box);
  const height = Math.max(0, room.height - HEAD_PX);
  const ticksMax = Math.max(2, Math.floor(height / TICK_PX));
  const axes = useMemo(
    () => texts.flatMap((text) => axisFor(props, text, ticksMax)),
    // The joined text is a key for the list.
    [table, texts.join("\n"), search.scale, ticksMax],
  );
  const width = parallelWidth(axes.length, room.width);
  const layout = useMemo(() => layOutParallel(axes, width, height), [axes, width, height]);
  const goal = objective?.goal ?? "min";
  const shares = useMemo(() => sharesOf(judged, goal, table.runs.length), [judged, goal, table]);
  const count = table.runs.length;
  const paints = usePaints(props, layout, axes, shares);
  const setAxes = (next: string[]) => onSearch({ axes: next });
  const shown = axes.map(({ column }) => column.text);
  const moveTo = (text: string, to: number) => {
    const others = shown.filter((each) => each !== text);
    others.splice(Math.max(0, Math.min(others.length, to)), 0, text);
    if (others.join("\n") !== shown.join("\n")) setAxes(others);
  };
  return (
    <div className={styles.view}>
      <ParallelTools {...props} goal={goal} shown={shown} onAxes={setAxes} />
      <div className={styles.picture} ref={box} tabIndex={0} role="region" aria-label="Parallel coordinates">
        {axes.length === 0 ? (
          <EmptyState title="No param varies among these runs">
            <p>Add metrics as axes, or widen the query.</p>
          </EmptyState>
        ) : (
          <div className={styles.inner} style={{ width, height: room.height }}>
            <div
              className={styles.layers}
              style={{ top: HEAD_PX, height }}
              role="img"
              aria-label={`${remaining} of ${count} runs as lines over ${axes.map(({ column }) => column.label).join(", ")}`}
            >
              <CanvasLayer width={width} height={height} paint={paints.context} faded={remaining === count} />
              <CanvasLayer width={width} height={height} paint={paints.lines} />
              <CanvasLayer width={width} height={height} paint={paints.frame} />
            </div>
            <Pointed {...props} layout={layout} axes={axes} shares={shares} />
            {axes.map((axis, i) => {
              const { text } = axis.column;
              return (
                <AxisStrip
                  key={text}
                  axis={axis}
                  brush={brushes[text]}
                  layout={layout}
                  x={layout.xs[i]!}
                  width={headWidth(layout.xs, i)}
                  onBrush={(brush, isDraft) => onBrush({ [text]: brush }, isDraft)}
                  onScale={(scale) => onSearch({ scale: { ...search.scale, [text]: scale } })}
                  onMove={(step) => moveTo(text, i + step)}
                  onRemove={() => setAxes(shown.filter((each) => each !== text))}
                  onDrop={(x) => moveTo(text, layout.xs.filter((at, j) => j !== i && at < x).length)}
                />
              );
            })}
          </div>
        )}
      </div>
      {search.table && (
        <RunFigures
          label="Figures of the runs that remain"
          table={table}
          rows={bestFirst(mask, shares)}
          columns={axes.map(({ column }) => column)}
        />
      )}
    </div>
  );
}

/** All runs in the background, those that remain, and the axes. */
function usePaints(
  { table, mask, remaining, dark }: ExploreViewProps,
  layout: ParallelLayout,
  axes: readonly Axis[],
  shares: ReturnType<typeof sharesOf>,
) {
  const count = table.runs.length;
  const context = useCallback<Paint>(
    (pen, ink) => paintContext(pen, ink, { layout, count, shares, dark }),
    [layout, count, shares, dark],
  );
  const lines = useCallback<Paint>(
    (pen, ink) => paintRemaining(pen, ink, { layout, mask, count: remaining, shares, dark }),
    [layout, mask, remaining, shares, dark],
  );
  const frame = useCallback<Paint>((pen, ink) => paintAxes(pen, ink, layout, axes), [layout, axes, dark]);
  return { context, lines, frame };
}

function ParallelTools({
  listed,
  known,
  search,
  objective,
  judged,
  dark,
  onSearch,
  goal,
  shown,
  onAxes,
}: ExploreViewProps & { goal: Goal; shown: readonly string[]; onAxes: (texts: string[]) => void }) {
  return (
    <div className={bars.tools}>
      <FieldPicker
        label="Axis"
        listed={listed}
        known={known}
        trigger={
          <Button disabled={shown.length >= AXES_MAX}>
            <Plus size={14} aria-hidden /> Add an axis
          </Button>
        }
        onChange={(text) => onAxes([...shown.filter((each) => each !== text), text])}
      />
      {search.axes !== undefined && (
        <Button quiet onClick={() => onSearch({ axes: undefined })}>
          <RotateCcw size={13} aria-hidden /> Default axes
        </Button>
      )}
      <span className={bars.space} />
      {judged !== undefined && judged.count > 0 ? (
        <ColourLegend column={judged} goal={goal} dark={dark} isJudged />
      ) : (
        <span className={bars.quiet}>
          {objective === undefined
            ? "No objective is set: choose one above for colours."
            : "No run has a number for the objective."}
        </span>
      )}
      <Button
        aria-pressed={search.table === true}
        onClick={() => onSearch({ table: search.table ? undefined : true })}
      >
        Figures
      </Button>
    </div>
  );
}

function axisFor({ table, search }: ExploreViewProps, text: string, ticksMax: number): Axis[] {
  const column = table.column(text);
  return column === undefined ? [] : [axisOf(column, search.scale?.[text], ticksMax)];
}

/** The overlay: the nearest line is highlighted and named, a click opens its run. */
function Pointed({
  table,
  mask,
  layout,
  axes,
  shares,
  dark,
  onOpen,
}: ExploreViewProps & { layout: ParallelLayout; axes: readonly Axis[]; shares: Float64Array }) {
  const row = useHighlightedRow(table);
  const [at, setAt] = useState<{ x: number; y: number }>();
  const paint = useCallback<Paint>(
    (pen, ink) => {
      if (row < 0) return;
      const share = shares[row]!;
      paintHighlighted(pen, ink, layout, row, Number.isNaN(share) ? ink.text : rampColour(share, dark));
    },
    [row, layout, shares, dark],
  );
  const columns = axes.map(({ column }) => column);
  return (
    <div
      className={row < 0 ? styles.surface : `${styles.surface} ${styles.onLine}`}
      style={{ top: HEAD_PX, height: layout.height }}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        const found = nearestLine(layout, mask, x, y, REACH_PX);
        highlightedRun.set(found < 0 ? undefined : table.runs[found]!.id);
        setAt({ x, y });
      }}
      onPointerLeave={() => {
        highlightedRun.set(undefined);
        setAt(undefined);
      }}
      onClick={() => row >= 0 && onOpen(table.runs[row]!)}
    >
      <CanvasLayer width={layout.width} height={layout.height} paint={paint} />
      {row >= 0 && at !== undefined && (
        <HighlightedCard
          table={table}
          row={row}
          columns={columns}
          x={at.x}
          y={Math.min(at.y, layout.height - 160)}
          width={layout.width}
        />
      )}
    </div>
  );
}
