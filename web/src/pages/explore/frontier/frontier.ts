import type { Axis } from "../columns/axis.ts";
import type { Frontier } from "../answers/queries.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import { heightOf, PLAIN_RADIUS, xOf, type ScatterLayout } from "../scatter/scatter-points.ts";
import type { ScatterFields } from "../scatter/scatter-fields.ts";

/** Where a run of the frontier is in the picture, in pixels. */
export interface Corner {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

type FrontierRuns = Pick<Frontier, "runs">;
type RowOf = (runId: string) => number | undefined;

/** The goals to request; undefined if a direction is unknown, or an axis is not of numbers. */
export function goalsOf({ x, y, goals: [goalX, goalY] }: ScatterFields): Frontier["goals"] | undefined {
  if (x?.kind !== "number" || y?.kind !== "number" || goalX === undefined || goalY === undefined) {
    return undefined;
  }
  return [
    { text: x.text, label: x.label, goal: goalX },
    { text: y.text, label: y.label, goal: goalY },
  ];
}

/** Whether an answer is about these two fields; the last one stays while the next is loading. */
export function isFor(frontier: Frontier, goals: Frontier["goals"] | undefined): boolean {
  return goals?.every(({ text }, i) => frontier.goals[i]!.text === text) === true;
}

/** The column with ends that have room for runs of the frontier which were not read. `goal` is its place among the goals. */
export function withRoomFor(
  column: ExploredColumn,
  { runs }: FrontierRuns,
  goal: 0 | 1,
  rowOf: RowOf,
): ExploredColumn {
  const unread = runs.filter(({ runId }) => rowOf(runId) === undefined).map(({ values }) => values[goal]!);
  if (unread.length === 0) return column;
  // An empty column has NaN as its ends.
  const [low, high] = column.count === 0 ? [unread[0]!, unread[0]!] : [column.low, column.high];
  return {
    ...column,
    low: unread.reduce((least, value) => Math.min(least, value), low),
    high: unread.reduce((most, value) => Math.max(most, value), high),
  };
}

/** At the points of the runs; those that were not read are where their values are. */
export function cornersOf(
  { runs }: FrontierRuns,
  layout: ScatterLayout,
  [x, y]: readonly [Axis, Axis],
  rowOf: RowOf,
): Corner[] {
  return runs.flatMap(({ runId, values }) => {
    const row = rowOf(runId);
    const corner =
      row === undefined
        ? {
            x: xOf(layout, x.placeOf(values[0]!)),
            y: heightOf(layout, y.placeOf(values[1]!)),
            radius: PLAIN_RADIUS,
          }
        : { x: layout.xs[row]!, y: layout.ys[row]!, radius: layout.radii[row]! };
    // A run may have lost its value since.
    return Number.isNaN(corner.x) || Number.isNaN(corner.y) ? [] : [corner];
  });
}
