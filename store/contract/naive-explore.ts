/** The expected answers of a RunSearch about many runs at once, computed in the simplest way over a list. */
import { fittingFields, orderFields, type CountedField } from "#core/explore/fields.ts";
import { frontierOf } from "#core/explore/frontier.ts";
import { importanceOf } from "#core/explore/importance.ts";
import type { RunColumn, RunTable } from "#core/explore/run-table.ts";
import type {
  BestFound,
  BestGoal,
  FieldsRequest,
  FoundFields,
  FoundFrontier,
  FrontierRequest,
  Importance,
  ImportanceRequest,
} from "#core/ports/run-search.ts";
import { isUnder } from "#lang/namespace-path.ts";
import type { Field, Literal, MetricStat } from "#lang/query/ast.ts";
import { viewRun, type ViewedRun } from "#lang/query/testing/view.ts";
import { leaves } from "#lang/json/leaves.ts";

/** A run, with its metrics behind a function. */
export interface NaiveRun extends ViewedRun {
  metricKeys: readonly string[];
  stat(key: string, stat: MetricStat): number | undefined;
  /** Of its best value. */
  step(key: string, stat: "min" | "max"): number | undefined;
}

export function naiveBest(runs: readonly NaiveRun[], goals: readonly BestGoal[]): (BestFound | undefined)[] {
  return goals.map(({ under, key, stat }) => {
    const found = runs
      .filter(({ namespace }) => isUnder(namespace, under))
      .map((run) => ({ run, value: run.stat(key, stat) ?? Number.NaN }))
      .filter(({ value }) => !Number.isNaN(value))
      .sort((a, b) => {
        const byValue = stat === "min" ? a.value - b.value : b.value - a.value;
        return byValue || b.run.createdUs - a.run.createdUs || (a.run.id < b.run.id ? -1 : 1);
      });
    const [first] = found;
    return first && { id: first.run.id, value: first.value, step: first.run.step(key, stat) };
  });
}

export function naiveFields(runs: readonly NaiveRun[], request: FieldsRequest): FoundFields {
  const { kinds, find, known, valuesMax, offset, limit } = request;
  const counted = countFields(runs).filter(
    ({ kind, key }) => kinds.has(kind) && key.toLowerCase().includes(find.toLowerCase()),
  );
  const fields = orderFields(counted, runs.length, known, valuesMax);
  return { fields: fittingFields(fields, offset, limit), total: fields.length, runs: runs.length };
}

export function naiveImportance(
  runs: readonly NaiveRun[],
  { objective, bounds, nowUs = 0 }: ImportanceRequest,
): Promise<Importance> {
  return importanceOf(new ListTable(runs, nowUs), objective, bounds);
}

export async function naiveFrontier(
  runs: readonly NaiveRun[],
  { goals, limit, nowUs = 0 }: FrontierRequest,
): Promise<FoundFrontier> {
  const table = new ListTable(runs, nowUs);
  const columns = await Promise.all(
    goals.map(async ({ field, maximize }) => {
      const column = await table.column(field);
      const values =
        column?.kind === "number" ? column.values : new Float64Array(runs.length).fill(Number.NaN);
      return { values, maximize };
    }),
  );
  const { rows, runs: counted } = frontierOf(columns, () => undefined);
  const found = rows.map((row) => {
    const { id, name, namespace } = runs[row]!;
    return { id, name, namespace, values: columns.map(({ values }) => values[row]!) };
  });
  return { runs: found.slice(0, limit), total: found.length, counted };
}

function countFields(runs: readonly NaiveRun[]): CountedField[] {
  const counted = new Map<
    string,
    CountedField & { values: Map<Literal, number>; runs: number; numeric: boolean }
  >();
  const count = (kind: CountedField["kind"], key: string, value: Literal | undefined) => {
    const name = JSON.stringify([kind, key]);
    const field = counted.get(name) ?? {
      kind,
      key,
      runs: 0,
      values: new Map(),
      moreValues: false,
      numeric: true,
    };
    field.runs++;
    if (value !== undefined) field.values.set(value, (field.values.get(value) ?? 0) + 1);
    if (value !== undefined && typeof value !== "number") field.numeric = false;
    counted.set(name, field);
  };
  for (const run of runs) {
    for (const [key, value] of leaves(run.params)) if (value !== null) count("param", key, value);
    for (const [key, value] of run.tags) count("tag", key, value);
    for (const key of run.metricKeys) count("metric", key, undefined);
  }
  return [...counted.values()];
}

class ListTable implements RunTable {
  readonly count: number;
  readonly params: RunTable["params"];
  readonly #runs: readonly NaiveRun[];
  readonly #nowUs: number;

  constructor(runs: readonly NaiveRun[], nowUs: number) {
    this.count = runs.length;
    this.#runs = runs;
    this.#nowUs = nowUs;
    const params = countFields(runs).filter(({ kind }) => kind === "param");
    this.params = orderFields(params, runs.length, { objective: undefined, described: new Set() }, 0);
  }

  async column(field: Field): Promise<RunColumn | undefined> {
    const values = this.#runs.map((run) => viewRun(run, run.stat.bind(run), this.#nowUs).values(field)[0]);
    const present = values.filter((value) => value !== undefined);
    if (present.length === 0) return undefined;
    if (present.every((value) => typeof value === "number")) {
      return { kind: "number", values: Float64Array.from(values, (value) => Number(value ?? Number.NaN)) };
    }
    const categories = [...new Set(present)];
    return {
      kind: "category",
      categories,
      values: Float64Array.from(values, (value) =>
        value === undefined ? Number.NaN : categories.indexOf(value),
      ),
    };
  }
}
