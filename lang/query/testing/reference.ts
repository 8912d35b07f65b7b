import type { MetricStat, Order, Query } from "../ast.ts";
import { MODEL_TIES, RUN_TIES } from "../compare.ts";
import { compareRuns, matches, type RunView } from "../evaluate.ts";
import {
  modelName,
  type ScriptEngine,
  type ScriptFound,
  type ScriptRun,
  type ScriptSearch,
} from "./script.ts";
import { viewModel, viewRun } from "./view.ts";

/** The engine that others are compared with: the evaluator over a list. */
export class ReferenceEngine implements ScriptEngine {
  #runs: readonly ScriptRun[] = [];

  async load(runs: readonly ScriptRun[]): Promise<void> {
    this.#runs = runs;
  }

  async search(query: Query, search: ScriptSearch): Promise<ScriptFound> {
    const rows = this.#runs.map((run) => ({
      key: run.id,
      name: run.name,
      view: viewScriptRun(run, search.nowUs),
    }));
    return pageOf(rows, query, RUN_TIES, search);
  }

  async searchModels(query: Query, search: ScriptSearch): Promise<ScriptFound> {
    const rows = this.#runs.flatMap((run) => {
      const ofRun = viewScriptRun(run, search.nowUs);
      return run.models.map((model) => {
        const name = modelName(run.name, model);
        return { key: `${run.id} ${name}`, name, view: viewModel(model, ofRun) };
      });
    });
    return pageOf(rows, query, MODEL_TIES, search);
  }
}

interface ViewedRow {
  key: string;
  name: string;
  view: RunView;
}

function pageOf(
  rows: readonly ViewedRow[],
  { where, orderBy }: Query,
  ties: readonly Order[],
  { limit, after }: ScriptSearch,
): ScriptFound {
  const order = compareRuns(orderBy, ties);
  const found = rows.filter(({ view }) => where === undefined || matches(where, view));
  found.sort((a, b) => order(a.view, b.view));
  const start = found.findIndex(({ key }) => key === after) + 1;
  const page = found.slice(start, start + limit);
  return {
    names: page.map(({ name }) => name),
    total: found.length,
    next: start + limit < found.length ? page.at(-1)?.key : undefined,
  };
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
