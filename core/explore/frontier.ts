/** One value of every run that should be small, or large. */
export interface GoalColumn {
  /** NaN and infinities are ignored. */
  readonly values: Float64Array;
  readonly maximize: boolean;
}

export interface Frontier {
  /** Rows that no other row beats: none is at least as good in all goals and better in one. By the first goal, the best first. */
  readonly rows: readonly number[];
  /** Rows that have a number for every goal. */
  readonly runs: number;
}

/** `check` is called repeatedly, and may throw: with many goals most rows may be on the frontier, and each is compared with all of them. */
export function frontierOf(goals: readonly GoalColumn[], check: () => void): Frontier {
  // Small is better in all of them from here on.
  const costs = goals.map(({ values, maximize }) => (maximize ? values.map((value) => -value) : values));
  const rows: number[] = [];
  for (let row = 0; row < costs[0]!.length; row++) {
    if (costs.every((cost) => Number.isFinite(cost[row]))) rows.push(row);
  }
  const sorted = Uint32Array.from(rows).sort((a, b) => compareRows(costs, a, b));
  const frontier: number[] = [];
  const isBeaten = costs.length === 2 ? isBeatenByLast : isBeatenByAny;
  for (const [place, row] of sorted.entries()) {
    if (place % ROWS_BETWEEN_CHECKS === 0) check();
    if (!isBeaten(costs, frontier, row)) frontier.push(row);
  }
  return { rows: frontier, runs: rows.length };
}

const ROWS_BETWEEN_CHECKS = 256;

function compareRows(costs: readonly Float64Array[], a: number, b: number): number {
  for (const cost of costs) {
    const difference = cost[a]! - cost[b]!;
    if (difference !== 0) return difference;
  }
  return a - b;
}

/** A later row in the order cannot beat an earlier one. Of two goals the last one found is the best in the second. */
function isBeatenByLast(costs: readonly Float64Array[], frontier: readonly number[], row: number): boolean {
  const last = frontier.at(-1);
  return last !== undefined && beats(costs, last, row);
}

function isBeatenByAny(costs: readonly Float64Array[], frontier: readonly number[], row: number): boolean {
  return frontier.some((other) => beats(costs, other, row));
}

function beats(costs: readonly Float64Array[], a: number, b: number): boolean {
  let isBetter = false;
  for (const cost of costs) {
    if (cost[a]! > cost[b]!) return false;
    isBetter ||= cost[a]! < cost[b]!;
  }
  return isBetter;
}
