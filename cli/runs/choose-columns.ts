/**
 * The default columns of a list of runs: the namespace where it varies, the metric of the objective, the fields of the
 * query, and params that differ between the runs that match.
 */
import { isSystemMetric } from "#lang/metric-key.ts";
import type { MetricField } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";
import { FieldKind, type FieldInfo } from "#proto/cairn/v1/explore_pb.ts";
import type { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { findObjectives, readMetricField } from "./objectives.ts";
import type { RunSearch } from "./search-runs.ts";
import { printTableField, type TableField } from "./table-field.ts";

const PARAMS_MAX = 8;
const WORD_LENGTH_MAX = 24;
/** A metric of many series is not useful as a single number. */
const LIST_ITEM = /\.\d+(?:\.|$)/;

export interface ChosenColumns {
  /** Shown in any case. */
  fields: TableField[];
  /** As many of them as there is room for, best first. */
  params: TableField[];
  /** The objective, when it is the same for all rows. */
  objective: { field: MetricField; direction: Direction } | undefined;
}

export async function chooseColumns(
  server: Cairn,
  { query, namespace }: Pick<RunSearch, "query" | "namespace">,
  runs: readonly Run[],
  asked: readonly TableField[],
): Promise<ChosenColumns> {
  const namespaces = new Set(runs.map((run) => run.namespace));
  const [objectives, { fields: known }] = await Promise.all([
    findObjectives(server, namespaces),
    server.explore.listFields({
      runs: { query, namespace },
      kinds: [FieldKind.PARAM, FieldKind.METRIC],
      valuesMax: 5,
    }),
  ]);
  const byNamespace = new Map(Array.from(objectives, ([path, held]) => [path, readMetricField(held.field)]));
  const different = new Map(Array.from(byNamespace.values(), (field) => [printField(field), field]));
  const [only] = different.values();
  const metric: TableField | undefined =
    different.size > 1 ? { of: "best", byNamespace } : (only ?? likelyMetric(known, asked));
  const fields: TableField[] = [
    { of: "run", name: "name" },
    { of: "run", name: "status" },
    { of: "age" },
    { of: "run", name: "duration" },
  ];
  if (namespaces.size > 1) fields.push({ of: "run", name: "namespace" });
  fields.push(...asked);
  if (metric !== undefined && !asked.some((field) => isSame(field, metric))) fields.push(metric);
  const params = varyingParams(known).filter((field) => !asked.some((one) => isSame(one, field)));
  const [first] = objectives.values();
  const objective =
    only !== undefined && different.size === 1 ? { field: only, direction: first!.direction } : undefined;
  return { fields, params, objective };
}

/** Params that differ between the runs, as far as their values are short. */
function varyingParams(known: readonly FieldInfo[]): TableField[] {
  return known
    .filter(({ kind, key, varies, values }) => {
      const isShort = values.every(({ json }) => json.length <= WORD_LENGTH_MAX);
      return kind === FieldKind.PARAM && varies && values.length > 0 && isShort && !LIST_ITEM.test(key);
    })
    .slice(0, PARAMS_MAX)
    .map(({ key }) => ({ of: "param", key }));
}

function isSame(a: TableField, b: TableField): boolean {
  return printTableField(a) === printTableField(b);
}

/** Without an objective, the most common metric. */
function likelyMetric(known: readonly FieldInfo[], asked: readonly TableField[]): TableField | undefined {
  if (asked.some(({ of }) => of === "metric")) return undefined;
  const best = known.find(({ kind, key }) => kind === FieldKind.METRIC && !isSystemMetric(key));
  return best && { of: "metric", key: best.key, stat: "last" };
}
