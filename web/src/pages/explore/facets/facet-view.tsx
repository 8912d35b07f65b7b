import { useMemo, useRef, type ReactNode } from "react";
import { colourAt, PALETTE_SIZE } from "../../../charts/paint/palette.ts";
import { SeriesChart } from "../../../charts/series-chart.tsx";
import { useZooms } from "../../../charts/use-zooms.ts";
import { Watched } from "../../../charts/watched.ts";
import { highlightedRun } from "../../../charts/highlighted-run.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { Name } from "../../../widgets/name.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { useRoom } from "../canvas-layer.tsx";
import { sharesOf, type ExploreViewProps } from "../explore-view.ts";
import { useCellCurves, type CellCurves } from "./curve-cells.ts";
import { FacetFigures } from "./facet-figures.tsx";
import {
  chartRun,
  curvesPerCell,
  facetFields,
  facetGrid,
  hueColour,
  leftOutOf,
  spreadOver,
} from "./facet-grid.ts";
import { FacetTools } from "./facet-tools.tsx";
import type { FacetCell } from "./facets.ts";
import styles from "./facets.module.css";
import { ObjectiveOffers } from "../objective/objective-offers.tsx";
import type { Goal } from "../search.ts";
import { StripCell } from "./strip-cell.tsx";

/** The minimum; with fewer rows they are higher. */
const CELL_HEIGHTS_PX = [320, 232, 176] as const;
const CELL_HEIGHT_PX_MAX = 520;
/** The maximum ratio of height to width; higher curves are not easier to read. */
const CELL_SLIMNESS_MAX = 1.5;
/** Of a cell around its picture, with the gap to the next. */
const CELL_REST_PX = 40;
/** Below the cells. */
const FOOT_PX = 12;
const REMARK_PX = 28;
const SMOOTHING = { kind: "none" } as const;

/** Small pictures side by side: one for each value of some property. */
export function FacetView(props: ExploreViewProps) {
  const { table, search, objective, judged, mask, dark } = props;
  const fields = facetFields(props);
  const grid = useMemo(
    () => facetGrid(table, fields, mask),
    [table, mask, fields.rows, fields.cols, fields.hue, fields.dash],
  );
  const goal = objective?.goal ?? "min";
  const shares = useMemo(() => sharesOf(judged, goal, table.runs.length), [judged, goal, table]);
  const metric = search.metric ?? objective?.key ?? props.known?.metrics[0];
  const isStrips = search.cell === "strips";
  const perCell = curvesPerCell(grid.cells.filter(({ runs }) => runs.length > 0).length);
  const cells = useMemo(
    () => grid.cells.map(({ runs }) => chosenCurves(props, grid, runs, shares, perCell)),
    [grid, perCell, shares, table, dark],
  );
  const { curves, range } = useCellCurves(isStrips ? undefined : metric, cells, dark);
  const wide = grid.columns?.values.length ?? 1;
  const remarks = [...leftOutOf(grid), ...(isStrips ? [] : notDrawn(grid, cells, perCell))];
  const view = useRef<HTMLDivElement>(null);
  const high = grid.rows?.values.length ?? 1;
  const room = useRoom(view);
  const height = cellHeight(room, wide, high, remarks.length);
  return (
    <div className={styles.view}>
      <FacetTools {...props} fields={fields} metric={metric} grid={grid} />
      <div className={styles.room} ref={view}>
        {isStrips && judged === undefined ? (
          <ObjectiveOffers {...props} />
        ) : !isStrips && metric === undefined ? (
          <EmptyState title="No metric was logged in these runs">
            <p>Curves appear as soon as a run logs one.</p>
          </EmptyState>
        ) : (
          <div className={styles.scroll} tabIndex={0} role="region" aria-label="Facet grid">
            <div
              className={styles.grid}
              style={{ gridTemplateColumns: `repeat(${wide}, minmax(220px, 1fr))` }}
            >
              {grid.cells.map((cell, i) => (
                <Cell key={i} grid={grid} cell={cell}>
                  {isStrips ? (
                    <StripCell
                      cell={cell}
                      grid={grid}
                      judged={judged!}
                      shares={shares}
                      dark={dark}
                      height={height}
                    />
                  ) : (
                    <CurveCell
                      title={metric!}
                      curves={curves[i]!}
                      range={range}
                      goal={goal}
                      dark={dark}
                      height={height}
                    />
                  )}
                </Cell>
              ))}
            </div>
            {remarks.map((remark) => (
              <p key={remark} className={styles.remark}>
                {visibleText(remark)}
              </p>
            ))}
          </div>
        )}
      </div>
      {search.table && judged !== undefined && (
        <FacetFigures grid={grid} judged={judged} titleOf={(cell) => titleOf(grid, cell)} />
      )}
    </div>
  );
}

/** The runs of a cell whose curves are drawn, from the best to the worst, and their version. */
function chosenCurves(
  { table, dark }: ExploreViewProps,
  grid: ReturnType<typeof facetGrid>,
  rows: readonly number[],
  shares: ReturnType<typeof sharesOf>,
  perCell: number,
) {
  const best = rows.toSorted((a, b) => (shares[b]! || 0) - (shares[a]! || 0) || a - b);
  const chosen = spreadOver(best, perCell);
  const plain = colourAt(PALETTE_SIZE - 1, dark);
  return {
    runs: chosen.map((row) =>
      chartRun(grid, table.runs[row]!, row, hueColour(grid, row, shares[row]!, dark, plain)),
    ),
    version: chosen
      .reduce((last, row) => (table.runs[row]!.updatedUs > last ? table.runs[row]!.updatedUs : last), 0n)
      .toString(),
  };
}

/** A note when there are more runs than curves. */
function notDrawn(
  grid: ReturnType<typeof facetGrid>,
  cells: readonly ReturnType<typeof chosenCurves>[],
  perCell: number,
): string[] {
  const shown = grid.cells.reduce((sum, { runs }) => sum + runs.length, 0);
  const drawn = cells.reduce((sum, { runs }) => sum + runs.length, 0);
  if (drawn === shown) return [];
  return [
    `Curves of ${drawn} of ${shown} runs: at most ${perCell} in a cell, spread from the best to the worst.`,
  ];
}

function cellHeight(
  room: { width: number; height: number },
  wide: number,
  high: number,
  remarks: number,
): number {
  const free = room.height - FOOT_PX - remarks * REMARK_PX;
  return Math.max(
    CELL_HEIGHTS_PX[Math.min(2, high - 1)] ?? CELL_HEIGHTS_PX[0],
    Math.min(
      CELL_HEIGHT_PX_MAX,
      Math.floor((CELL_SLIMNESS_MAX * room.width) / wide),
      Math.floor(free / Math.max(1, high)) - CELL_REST_PX,
    ),
  );
}

function Cell({
  grid,
  cell,
  children,
}: {
  grid: ReturnType<typeof facetGrid>;
  cell: FacetCell;
  children: ReactNode;
}) {
  return (
    <section className={styles.cell} aria-label={visibleText(titleOf(grid, cell))}>
      <h2 className={styles.head}>
        <Name text={titleOf(grid, cell)} />
        <span className={styles.count}>{cell.runs.length}</span>
      </h2>
      {cell.runs.length === 0 ? <p className={styles.nothing}>No runs.</p> : children}
    </section>
  );
}

function titleOf({ rows, columns }: ReturnType<typeof facetGrid>, cell: FacetCell): string {
  const words = [
    ...(columns === undefined ? [] : [`${columns.label} ${columns.values[cell.column]?.label ?? ""}`]),
    ...(rows === undefined ? [] : [`${rows.label} ${rows.values[cell.row]?.label ?? ""}`]),
  ];
  return words.length === 0 ? "All runs" : words.join(" · ");
}

function CurveCell({
  title,
  curves: { lines, error, retry },
  range,
  goal,
  dark,
  height,
}: {
  title: string;
  curves: CellCurves;
  range: readonly [number, number] | undefined;
  goal: Goal;
  dark: boolean;
  height: number;
}) {
  const zooms = useZooms();
  const cursor = useMemo(() => new Watched<number | undefined>(undefined), []);
  const moving = useMemo(() => new Watched<readonly [number, number] | undefined>(undefined), []);
  if (lines === undefined) {
    return (
      <div className={styles.waiting} style={{ height: height }}>
        {error === null ? (
          <Skeleton lines={1} height={height - 24} />
        ) : (
          <ErrorNote error={error} onRetry={retry} />
        )}
      </div>
    );
  }
  if (lines.every(({ x }) => x.length === 0))
    return (
      <p className={styles.nothing} style={{ height: height }}>
        No points with a step.
      </p>
    );
  return (
    <SeriesChart
      title={visibleText(title)}
      lines={lines}
      height={height}
      dark={dark}
      order={goal === "min" ? "rising" : "falling"}
      cursor={cursor}
      moving={moving}
      highlighted={highlightedRun}
      xKind="step"
      log={false}
      clip
      smoothing={SMOOTHING}
      fixedY={range}
      {...zooms}
    />
  );
}
