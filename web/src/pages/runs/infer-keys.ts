import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { paramLeaves } from "#lang/json/leaves.ts";
import { printField, printPath } from "#lang/query/field-text.ts";

/** What a namespace is judged by. */
export interface ObjectiveHint {
  metric: string;
  isMinimized: boolean;
}

export interface KnownKeys {
  /** Paths, nested ones with dots; those that vary first. */
  params: readonly string[];
  /** Those of them that have more than one value among the runs looked at; those of most runs first. */
  varying: ReadonlySet<string>;
  tags: readonly string[];
  /** The objective first. */
  metrics: readonly string[];
  environment: readonly string[];
  objective: ObjectiveHint | undefined;
  directions: ReadonlyMap<string, Direction>;
  /** Values seen per field, most frequent first, as they stand in a query. */
  values: ReadonlyMap<string, readonly string[]>;
}

interface Sample {
  runs: readonly Run[];
  environments: readonly Readonly<Record<string, string>>[];
  /** Of the runs that were looked at, and how many of them have it. */
  metrics: readonly { key: string; runCount: number }[];
  described: readonly { key: string; direction: Direction }[];
  objective: ObjectiveHint | undefined;
}

const KEYS_MAX = 5_000;
const VALUES_MAX = 50;
const VALUE_LENGTH_MAX = 80;
const DEFAULT_PARAMS = 4;

export function inferKeys({ runs, environments, metrics, described, objective }: Sample): KnownKeys {
  const params = new Map<string, Map<string, number>>();
  const tags = new Map<string, Map<string, number>>();
  const environment = new Set(environments.flatMap((each) => Object.keys(each)));
  for (const run of runs) {
    // Lists stay whole, as people see them.
    for (const [path, { source }] of paramLeaves(Object.entries(run.params))) {
      count(params, path, source);
    }
    for (const [key, value] of Object.entries(run.tags)) count(tags, key, JSON.stringify(value));
  }
  const varying = new Set(
    [...params]
      .filter(([, values]) => isVarying(values, runs.length))
      .toSorted(([one, few], [other, many]) => sizeOf(many) - sizeOf(few) || byName(one, other))
      .map(([key]) => key),
  );
  const values = new Map<string, readonly string[]>();
  for (const [key, seen] of params) values.set(printField({ of: "param", key }), mostFrequent(seen));
  for (const [key, seen] of tags) values.set(printField({ of: "tag", key }), mostFrequent(seen));
  const names = [...params.keys()].toSorted(byName);
  return {
    params: [...names.filter((key) => varying.has(key)), ...names.filter((key) => !varying.has(key))],
    varying,
    tags: [...tags.keys()].toSorted(byName),
    metrics: orderMetrics(metrics, described, objective),
    environment: [...environment].toSorted(byName).slice(0, KEYS_MAX),
    objective,
    directions: new Map(described.map(({ key, direction }) => [key, direction])),
    values,
  };
}

function count(all: Map<string, Map<string, number>>, key: string, value: string): void {
  let values = all.get(key);
  if (values === undefined) {
    if (all.size >= KEYS_MAX) return;
    all.set(key, (values = new Map()));
  }
  if (values.size < VALUES_MAX || values.has(value)) values.set(value, (values.get(value) ?? 0) + 1);
}

function sizeOf(values: ReadonlyMap<string, number>): number {
  return values.values().reduce((sum, each) => sum + each, 0);
}

/** More than one value, or one that some runs lack. */
function isVarying(values: ReadonlyMap<string, number>, runs: number): boolean {
  if (values.size > 1) return true;
  const [seen = 0] = values.values();
  return seen < runs;
}

function mostFrequent(values: ReadonlyMap<string, number>): string[] {
  return [...values]
    .filter(([text]) => text.length <= VALUE_LENGTH_MAX && !/^[[{]|^null$/.test(text))
    .toSorted(([one, many], [other, more]) => more - many || byName(one, other))
    .map(([text]) => text);
}

function byName(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

/** The objective, then what was described, then what looks like an evaluation, then by how many runs have it. */
function orderMetrics(
  metrics: Sample["metrics"],
  described: Sample["described"],
  objective: ObjectiveHint | undefined,
): string[] {
  const seen = new Map(metrics.map(({ key, runCount }) => [key, runCount]));
  for (const { key } of described) if (!seen.has(key)) seen.set(key, 0);
  if (objective !== undefined && !seen.has(objective.metric)) seen.set(objective.metric, 0);
  const isDescribed = new Set(described.map(({ key }) => key));
  const rank = (key: string) =>
    key === objective?.metric
      ? 0
      : /(?:^|[/_.])(?:val|eval|test|dev)/.test(key)
        ? 1
        : isDescribed.has(key)
          ? 2
          : key.startsWith("system/")
            ? 4
            : 3;
  return [...seen]
    .toSorted(([one, often], [other, more]) => rank(one) - rank(other) || more - often || byName(one, other))
    .map(([key]) => key)
    .slice(0, KEYS_MAX);
}

/** The columns of a table that nobody has arranged: what the namespace is judged by, and the params that differ. */
export function defaultColumns(known: KnownKeys): string[] {
  const [best, second] = known.metrics;
  const isMinimized =
    known.objective?.isMinimized ?? (best !== undefined && /loss|error|wer|perplexity/.test(best));
  const columns = ["name", "status", "duration"];
  if (best !== undefined) {
    columns.push(
      printPath("line", best),
      printField({ of: "metric", key: best, stat: isMinimized ? "min" : "max" }),
    );
  }
  if (second !== undefined) columns.push(printField({ of: "metric", key: second, stat: "last" }));
  const params = [...known.varying].filter((key) => !/seed$/i.test(key)).slice(0, DEFAULT_PARAMS);
  columns.push(...params.map((key) => printField({ of: "param", key })));
  return [...columns, "started"];
}
