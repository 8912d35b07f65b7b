import type { Field, MetricStat, RunField } from "./ast.ts";

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
};

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

export function findMetricStat(word: string): MetricStat | undefined {
  return METRIC_STATS.find((stat) => stat === word);
}

/** Whether runs can be ordered by it: a run may have many aliases, without an order. */
export function isOrderable(field: Field): boolean {
  return field.of !== "run" || field.name !== "alias";
}

export function fieldType(field: Field): FieldType {
  switch (field.of) {
    case "run":
      return RUN_FIELD_TYPES[field.name];
    case "param":
      return "any";
    case "tag":
      return "text";
    case "metric":
      return "number";
  }
}
