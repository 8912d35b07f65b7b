import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Run } from "../types/run.ts";
import type { HeavyPart } from "../ports/run-store.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { readField } from "#lang/query/field-text.ts";

/** What a search returns of each run. Identity, status and times are always included. */
export interface Projection {
  /** true for all of them, else the top-level keys wanted. */
  params: true | ReadonlySet<string>;
  tags: true | ReadonlySet<string>;
  aliases: boolean;
  notes: boolean;
  provenance: boolean;
  metrics: readonly { name: string; key: string; stat: MetricStat }[];
}

const DEFAULT_COLUMNS = ["params", "tags", "aliases"];

export function parseColumns(asked: readonly string[]): Projection {
  const columns = asked.length === 0 ? DEFAULT_COLUMNS : asked;
  if (columns.length > limits.pageSizeMax) {
    throw new CairnError(
      "exhausted",
      `cannot return ${columns.length} columns: the most is ${limits.pageSizeMax}`,
    );
  }
  const params = new Set<string>();
  const tags = new Set<string>();
  const metrics = new Map<string, Projection["metrics"][number]>();
  for (const column of columns) {
    if (WHOLE.has(column)) continue;
    const field = readField(column);
    if (field.of === "param") params.add(field.key);
    else if (field.of === "tag") tags.add(field.key);
    else if (field.of === "metric") {
      const { key, stat } = field;
      const name = `${key}.${stat}`;
      metrics.set(name, { name, key, stat });
    } else throw unknownColumn(column);
  }
  return {
    params: columns.includes("params") ? true : params,
    tags: columns.includes("tags") ? true : tags,
    aliases: columns.includes("aliases"),
    notes: columns.includes("notes"),
    provenance: columns.includes("provenance"),
    metrics: [...metrics.values()],
  };
}

/** The size of a number besides the name of its column, which every run repeats. */
const METRIC_BYTES = 16;

/** With so many rows the metrics alone fill an answer; at least 1. */
export function rowsWithMetrics({ metrics }: Projection): number {
  const rowBytes = metrics.reduce((sum, { name }) => sum + Buffer.byteLength(name) + METRIC_BYTES, 0);
  return rowBytes === 0 ? Infinity : Math.max(1, Math.floor(limits.pageBytesMax / rowBytes));
}

export function project(run: Run, projection: Projection): Run {
  return {
    ...run,
    aliases: projection.aliases ? run.aliases : [],
    notes: projection.notes ? run.notes : "",
    params: pick(run.params, projection.params),
    tags: pick(run.tags, projection.tags),
    provenance: projection.provenance ? run.provenance : undefined,
  };
}

/** What the store need not read at all. */
export function unwanted({ params, tags, notes, provenance }: Projection): HeavyPart[] {
  return [
    ...(params !== true && params.size === 0 ? (["params"] as const) : []),
    ...(tags !== true && tags.size === 0 ? (["tags"] as const) : []),
    ...(notes ? [] : (["notes"] as const)),
    ...(provenance ? [] : (["provenance"] as const)),
  ];
}

const WHOLE = new Set(["params", "tags", "aliases", "notes", "provenance"]);

/** "optim.lr" is found as that exact key, or inside the key "optim", which is returned whole. */
function pick(
  all: ReadonlyMap<string, string>,
  wanted: true | ReadonlySet<string>,
): ReadonlyMap<string, string> {
  if (wanted === true) return all;
  const picked = new Map<string, string>();
  for (const path of wanted) {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      const key = path.slice(0, end);
      const value = all.get(key);
      if (value === undefined) continue;
      picked.set(key, value);
      break;
    }
  }
  return picked;
}

function unknownColumn(column: string): CairnError {
  return new CairnError(
    "invalid",
    `cannot return column ${quote(column)}: it is always included, or unknown`,
    {
      hint: "columns are params, tags, aliases, notes, provenance, or single ones such as params.lr, tags.team, metrics.loss.min",
    },
  );
}
