export type Goal = "min" | "max";

/**
 * Rows that no other row beats: none is at least as good in both and better in one. In the order of x, the best first; rows
 * without a number in x or y take no part.
 */
export function paretoFrontier(
  x: Float64Array,
  y: Float64Array,
  [goalX, goalY]: readonly [Goal, Goal],
  isIn: (row: number) => boolean,
): number[] {
  const cost = (value: number, goal: Goal): number => (goal === "min" ? value : -value);
  const rows: number[] = [];
  for (let row = 0; row < x.length; row++) {
    if (isIn(row) && Number.isFinite(x[row]!) && Number.isFinite(y[row]!)) rows.push(row);
  }
  rows.sort(
    (a, b) => cost(x[a]!, goalX) - cost(x[b]!, goalX) || cost(y[a]!, goalY) - cost(y[b]!, goalY) || a - b,
  );
  const frontier: number[] = [];
  for (const row of rows) {
    const last = frontier.at(-1);
    const isEqual = last !== undefined && x[last] === x[row] && y[last] === y[row];
    if (last === undefined || isEqual || cost(y[row]!, goalY) < cost(y[last]!, goalY)) frontier.push(row);
  }
  return frontier;
}
