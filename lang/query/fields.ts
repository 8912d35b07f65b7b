import { RUN_STATUSES } from "../statuses.ts";
import { isProvenanceList } from "./provenance-fields.ts";
import type { Comparison, Literal, MetricStat, ModelFieldName, QueryField, RunField } from "./ast.ts";

/** What a field holds, and so what it may be compared with. */
export type FieldType = "any" | "text" | "status" | "number" | "seconds" | "time";

const RUN_FIELD_TYPES: Readonly<Record<RunField, FieldType>> = {
  id: "text",
  name: "text",
  namespace: "text",
  status: "status",
  notes: "text",
  alias: "text",
  created: "time",
  started: "time",
  ended: "time",
  updated: "time",
  duration: "seconds",
  creator: "text",
  user: "text",
  host: "text",
  study: "text",
  initial_state: "text",
  training_data: "text",
  test_data: "text",
  feature_pipeline: "text",
  logs_location: "text",
  repository: "text",
  commit: "text",
  branch: "text",
};

const MODEL_FIELD_TYPES: Readonly<Record<ModelFieldName, FieldType>> = {
  name: "text",
  step: "number",
  size: "number",
  created: "time",
};

export const MODEL_FIELDS = Object.keys(MODEL_FIELD_TYPES) as readonly ModelFieldName[];
export const RUN_FIELDS = Object.keys(RUN_FIELD_TYPES) as readonly RunField[];
export const KEYED_FIELDS = ["params", "tags", "metrics"] as const;
export const METRIC_STATS = ["last", "first", "min", "max", "mean", "count"] as const satisfies MetricStat[];

export function findRunField(word: string): RunField | undefined {
  const lower = word.toLowerCase();
  return RUN_FIELDS.find((name) => name === lower);
}

export function findKeyedField(word: string): (typeof KEYED_FIELDS)[number] | undefined {
  const lower = word.toLowerCase();
  return KEYED_FIELDS.find((name) => name === lower);
}

/** `word` as it follows "model.". */
export function findModelField(word: string): ModelFieldName | undefined {
  const lower = word.toLowerCase();
  return MODEL_FIELDS.find((name) => name === lower);
}

export function findMetricStat(word: string): MetricStat | undefined {
  return METRIC_STATS.find((stat) => stat === word);
}

/** Not where a run may have many values of it: a condition then holds if it holds for one. */
export function isOrderable(field: QueryField): boolean {
  return field.of !== "run" || (field.name !== "alias" && !isProvenanceList(field.name));
}

/** Why there is no order by it. */
export function manyValues(field: QueryField): string {
  const what = field.of === "run" && field.name !== "alias" ? `values of ${field.name}` : "aliases";
  return `a run may have many ${what}, so they give no order`;
}

export function fieldType(field: QueryField): FieldType {
  switch (field.of) {
    case "run":
      return RUN_FIELD_TYPES[field.name];
    case "param":
      return "any";
    case "tag":
      return "text";
    case "metric":
      return "number";
    case "model":
      return MODEL_FIELD_TYPES[field.name];
  }
}

/** Whether it can be compared with such a literal. */
export function fitsField(field: QueryField, value: Literal): boolean {
  switch (fieldType(field)) {
    case "any":
      return true;
    case "text":
      return typeof value === "string";
    case "status":
      return RUN_STATUSES.some((status) => status === value);
    case "number":
    case "seconds":
    case "time":
      return typeof value === "number";
  }
}

/** Bools and statuses have no order. */
export function knowsComparison(field: QueryField, comparison: Comparison, value: Literal): boolean {
  if (comparison === "=" || comparison === "!=") return true;
  return typeof value !== "boolean" && fieldType(field) !== "status";
}

/** Whether it may hold texts, which patterns match. */
export function mayBeText(field: QueryField): boolean {
  const type = fieldType(field);
  return type === "any" || type === "text" || type === "status";
}
