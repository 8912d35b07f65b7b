import type { BestFound, BestGoal } from "#core/ports/run-search.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { EMPTY } from "../cells/cells.ts";
import { METRIC_LANES, STEP_LANES } from "../cells/metric-column.ts";
import type { RunColumns } from "../cells/run-columns.ts";
import type { SelectedRows } from "../search/selected-rows.ts";

/**
 * Per goal the row with the best number, undefined where none has one. Each metric is scanned once, however many
 * goals name it, with a pause after it.
 */
export function* findBest(
  goals: readonly BestGoal[],
  rows: SelectedRows,
): Generator<void, (BestFound | undefined)[]> {
  const { columns } = rows;
  const best: (BestFound | undefined)[] = goals.map(() => undefined);
  const byMetric = Map.groupBy(goals.keys(), (at) => JSON.stringify([goals[at]!.key, goals[at]!.stat]));
  for (const places of byMetric.values()) {
    const leaders = leadersOf(columns, goals[places[0]!]!, rows);
    for (const at of places) best[at] = bestUnder(columns, leaders, goals[at]!);
    yield;
  }
  return best;
}

interface Leader {
  readonly row: number;
  readonly value: number;
}

/** The best of each single namespace, by the code of its path. */
type Leaders = ReadonlyMap<number, Leader>;

function leadersOf(columns: RunColumns, { key, stat }: BestGoal, rows: SelectedRows): Leaders {
  const leaders = new Map<number, Leader>();
  const cells = columns.findMetric(key)?.reader(stat);
  if (cells === undefined) return leaders;
  const lane = METRIC_LANES[stat];
  const { namespace } = columns.fields;
  for (const { lo, hi, offsets } of rows.blocks()) {
    const codes = cells.codesPart(lo, hi);
    const numbers = codes && cells.numbersPart(lo, hi, lane);
    if (numbers === undefined) continue;
    for (const offset of offsets) {
      const value = numbers[offset]!;
      if (codes![offset] === EMPTY || Number.isNaN(value)) continue;
      const row = lo + offset;
      const code = namespace.cells.code(row);
      const leader = leaders.get(code);
      if (leader === undefined || isAhead(columns, stat, { row, value }, leader))
        leaders.set(code, { row, value });
    }
  }
  return leaders;
}

function bestUnder(
  columns: RunColumns,
  leaders: Leaders,
  { under, key, stat }: BestGoal,
): BestFound | undefined {
  const { id, namespace } = columns.fields;
  let best: Leader | undefined;
  for (const [code, leader] of leaders) {
    if (!isUnder(namespace.text(code), under)) continue;
    if (best === undefined || isAhead(columns, stat, leader, best)) best = leader;
  }
  if (best === undefined) return undefined;
  const step = columns.findMetric(key)!.cells.number(best.row, STEP_LANES[stat]);
  return {
    id: id.text(id.cells.code(best.row)),
    value: best.value,
    step: Number.isNaN(step) ? undefined : step,
  };
}

/** By value; at a tie the newest, then by id, as a search orders them. */
function isAhead(
  { fields: { created, id } }: RunColumns,
  stat: "min" | "max",
  a: Leader,
  b: Leader,
): boolean {
  if (a.value !== b.value) return stat === "min" ? a.value < b.value : a.value > b.value;
  const newer = created.cells.number(a.row, 0) - created.cells.number(b.row, 0);
  if (newer !== 0) return newer > 0;
  return id.text(id.cells.code(a.row)) < id.text(id.cells.code(b.row));
}
