import { printField, printPath } from "#lang/query/field-text.ts";
import type { KnownKeys } from "../../../data/runs/known-keys.ts";

const PARAMS = 4;

/** The default columns: the objective, and the most informative params. */
export function defaultColumns({ defaults: { metric, params }, metrics }: KnownKeys): string[] {
  const second = metrics.find((key) => key !== metric?.metric);
  const columns = ["name", "status", "duration"];
  if (metric !== undefined) columns.push(printPath("line", metric.metric), metric.field);
  if (second !== undefined) columns.push(printField({ of: "metric", key: second, stat: "last" }));
  columns.push(...params.slice(0, PARAMS).map((key) => printField({ of: "param", key })));
  return [...columns, "started"];
}
