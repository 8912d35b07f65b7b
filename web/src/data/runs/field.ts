/**
 * A field that can be a column, an order or a group. Its text is the field in the query language (`params.optim.lr`, `metrics.val/wer.min`), so that one
 * text is used for the columns and the order of a search, and in the address.
 */
import type { Field, RunField } from "#lang/query/ast.ts";
import { findField, findPath, printField, printPath } from "#lang/query/field-text.ts";
import { findRunField, isOrderable } from "#lang/query/fields.ts";
import { isProvenanceList, isProvenanceText } from "#lang/query/provenance-fields.ts";

/** A field of the query language, or one that only pages have. */
export type PageField =
  | Field
  | { of: "environment"; key: string }
  /** The little picture of a metric over its steps. */
  | { of: "line"; key: string }
  /** A command has many words and no field in queries. */
  | { of: "provenance"; name: "command" };

export function printPageField(field: PageField): string {
  switch (field.of) {
    case "provenance":
      return `provenance.${field.name}`;
    case "environment":
    case "line":
      return printPath(field.of, field.key);
    default:
      return printField(field);
  }
}

/** Undefined for any other text, because users can type addresses. */
export function findPageField(text: string): PageField | undefined {
  const field = findField(text);
  const path = field === undefined ? findPath(text) : undefined;
  if (path === undefined) return field;
  const { root, key } = path;
  if (root === "environment" || root === "line") return { of: root, key };
  if (root !== "provenance") return undefined;
  if (key === "command") return { of: "provenance", name: key };
  // Addresses of earlier versions have `provenance.` before fields that queries know now.
  const name = findRunField(key);
  return name !== undefined && isOfProvenance(name) ? { of: "run", name } : undefined;
}

/** Whether it is a field of the run's provenance. */
export function isOfProvenance(name: RunField): boolean {
  return isProvenanceText(name) || isProvenanceList(name);
}

/** The column of SearchRuns for the field; undefined if it is always part of the answer. */
export function searchColumn(field: PageField): string | undefined {
  switch (field.of) {
    case "run":
      if (field.name === "alias") return "aliases";
      return field.name === "notes" || isOfProvenance(field.name) ? field.name : undefined;
    case "provenance":
    case "environment":
      return "provenance";
    case "line":
      return undefined;
    default:
      return printField(field);
  }
}

/** Whether the query language can order by it. */
export function isSortable(field: PageField): boolean {
  return field.of !== "environment" && field.of !== "line" && field.of !== "provenance" && isOrderable(field);
}

/** The words above a column. */
export function fieldLabel(field: PageField): string {
  switch (field.of) {
    case "run":
      return RUN_LABELS[field.name];
    case "metric":
      return `${field.key} ${field.stat}`;
    case "provenance":
      return "Command";
    default:
      return field.key;
  }
}

const RUN_LABELS: Readonly<Record<RunField, string>> = {
  name: "Run",
  status: "Status",
  duration: "Duration",
  started: "Started",
  created: "Created",
  ended: "Ended",
  updated: "Updated",
  namespace: "Namespace",
  id: "Id",
  alias: "Aliases",
  notes: "Notes",
  creator: "Creator",
  user: "User",
  host: "Host",
  study: "Study",
  initial_state: "Initial state",
  training_data: "Training data",
  test_data: "Test data",
  feature_pipeline: "Feature pipeline",
  logs_location: "Logs",
  repository: "Repository",
  commit: "Commit",
  branch: "Branch",
};
