import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { printField, printPath } from "#lang/query/field-text.ts";
import { directionOf, type KnownKeys } from "../../../data/runs/known-keys.ts";

const DEFAULT_PARAMS = 4;

/** The default columns: the objective, and the most informative params. */
export function defaultColumns(known: KnownKeys): string[] {
  const judged = known.objective?.metric ?? known.metrics[0];
  const second = known.metrics.find((key) => key !== judged);
  const columns = ["name", "status", "duration"];
  if (judged !== undefined) columns.push(printPath("line", judged), bestField(judged, known));
  if (second !== undefined) columns.push(printField({ of: "metric", key: second, stat: "last" }));
  const params = known.varying.filter((key) => !/seed$/i.test(key)).slice(0, DEFAULT_PARAMS);
  columns.push(...params.map((key) => printField({ of: "param", key })));
  return [...columns, "started"];
}

function bestField(key: string, known: KnownKeys): string {
  if (known.objective?.metric === key) return known.objective.field;
  const direction = directionOf(key, known);
  const isMinimized =
    direction === undefined ? /loss|error|wer|perplexity/.test(key) : direction === Direction.MINIMIZE;
  return printField({ of: "metric", key, stat: isMinimized ? "min" : "max" });
}
