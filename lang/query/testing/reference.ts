import type { MetricStat, Query } from "../ast.ts";
import { compareRuns, matches, type RunView } from "../evaluate.ts";
import type { ScriptEngine, ScriptFound, ScriptRun, ScriptSearch } from "./script.ts";
import { viewRun } from "../view.ts";

/** The engine that others are compared with: the evaluator over a list. */
export class ReferenceEngine implements ScriptEngine {
  #runs: readonly ScriptRun[] = [];

  async load(runs: readonly ScriptRun[]): Promise<void> {
    this.#runs = runs;
  }

  async search(query: Query, { limit, after, nowUs }: ScriptSearch): Promise<ScriptFound> {
    const rows = this.#runs.map((run) => ({ run, view: viewScriptRun(run, nowUs) }));
    const { where } = query;
    const found = where === undefined ? rows : rows.filter(({ view }) => matches(where, view));
    const order = compareRuns(query.orderBy);
    found.sort((a, b) => order(a.view, b.view));
    const start = found.findIndex(({ run }) => run.id === after) + 1;
    const page = found.slice(start, start + limit);
    return {
      names: page.map(({ run }) => run.name),
      total: found.length,
      next: start + limit < found.length ? page.at(-1)?.run.id : undefined,
    };
  }
}

export function viewScriptRun(run: ScriptRun, nowUs: number): RunView {
  return viewRun(run, (key, stat) => statOf(run.metrics.get(key) ?? [], stat), nowUs);
}

/** NaN counts as a value, but min, max and mean ignore it. */
export function statOf(points: readonly number[], stat: MetricStat): number | undefined {
  if (points.length === 0) return undefined;
  const numbers = points.filter((value) => !Number.isNaN(value));
  switch (stat) {
    case "count":
      return points.length;
    case "first":
      return points[0];
    case "last":
      return points.at(-1);
    case "min":
      return numbers.length === 0 ? undefined : Math.min(...numbers);
    case "max":
      return numbers.length === 0 ? undefined : Math.max(...numbers);
    case "mean":
      return numbers.length === 0
        ? undefined
        : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  }
}
