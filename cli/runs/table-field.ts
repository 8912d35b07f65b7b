import { CairnError } from "#lang/errors.ts";
import type { Field, MetricField } from "#lang/query/ast.ts";
import { printField, readField } from "#lang/query/field-text.ts";
import { RUN_FIELDS } from "#lang/query/fields.ts";
import { CommandError, EXIT } from "../cli.ts";

/** What a column of a table of runs shows: a field of the query language, or what only a table has. */
export type TableField =
  | Field
  /** How long ago the run started. */
  | { of: "age" }
  /** Chosen automatically: the objective of each run's own namespace. */
  | { of: "best"; byNamespace: ReadonlyMap<string, MetricField> };

/** Throws CommandError for a text that is not a column. */
export function readTableField(text: string): TableField {
  if (text.toLowerCase() === "age") return { of: "age" };
  try {
    return readField(text);
  } catch (thrown) {
    throw new CommandError(CairnError.from(thrown).message, {
      exitCode: EXIT.usage,
      hint: `columns are age, ${RUN_FIELDS.join(", ")}, params.KEY, tags.KEY and metrics.KEY.STAT`,
    });
  }
}

export function printTableField(field: TableField): string {
  return field.of === "age" || field.of === "best" ? field.of : printField(field);
}
