/**
 * The default columns of a list of runs: the namespace where it varies, the metric of the objective, the fields of the
 * query, and params that differ between the runs that match.
 */
import type { MetricField } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";
import { FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { defaultMetric, defaultParams } from "#sdk/default-columns.ts";
import { findObjectives, readMetricField } from "./objectives.ts";
import type { RunSearch } from "./search-runs.ts";
import { printTableField, type TableField } from "./table-field.ts";

const PARAMS_MAX = 8;

export interface ChosenColumns {
  /** Shown in any case. */
  fields: TableField[];
  /** As many of them as there is room for, best first. */
  params: TableField[];
  /** The objective, when it is the same for all rows. */
  objective: MetricField | undefined;
}

export async function chooseColumns(
  server: Cairn,
  { query, namespace }: Pick<RunSearch, "query" | "namespace">,
  runs: readonly Run[],
  asked: readonly TableField[],
): Promise<ChosenColumns> {
  const namespaces = new Set(runs.map((run) => run.namespace));
  const [objectives, known] = await Promise.all([
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
  const isAsked = asked.some(({ of }) => of === "metric");
  const likely = isAsked ? undefined : defaultMetric(known);
  const metric: TableField | undefined =
    different.size > 1 ? { of: "best", byNamespace } : (only ?? (likely && readMetricField(likely.field)));
  const fields: TableField[] = [
    { of: "run", name: "name" },
    { of: "run", name: "status" },
    { of: "age" },
    { of: "run", name: "duration" },
  ];
  if (namespaces.size > 1) fields.push({ of: "run", name: "namespace" });
  fields.push(...asked);
  if (metric !== undefined && !asked.some((field) => isSame(field, metric))) fields.push(metric);
  const params = defaultParams(known.fields)
    .slice(0, PARAMS_MAX)
    .map((key): TableField => ({ of: "param", key }))
    .filter((field) => !asked.some((one) => isSame(one, field)));
  return { fields, params, objective: different.size === 1 ? only : undefined };
}

function isSame(a: TableField, b: TableField): boolean {
  return printTableField(a) === printTableField(b);
}
