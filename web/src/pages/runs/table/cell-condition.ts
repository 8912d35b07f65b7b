import { ownValue } from "#base/own-value.ts";
import type { RunField } from "#lang/query/ast.ts";
import { fieldType } from "#lang/query/fields.ts";
import { printField } from "#lang/query/field-text.ts";
import { isProvenanceList } from "#lang/query/provenance-fields.ts";
import { quoteText } from "#lang/query/quote.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { provenanceValues } from "#sdk/provenance-facts.ts";
import { paramLeaf, valueText } from "#sdk/run-facts.ts";
import type { PageField } from "../../../data/runs/field.ts";

/** Those that are of one run alone, or that hold many values at once. */
const UNSHARED: ReadonlySet<RunField> = new Set(["id", "name", "notes", "alias"]);
const LENGTH_MAX = 500;

/** The condition that selects the runs with the same value; undefined where a query has none for it. */
export function cellCondition(run: Run, field: PageField): string | undefined {
  const value = literalOf(run, field);
  return value === undefined || value.length > LENGTH_MAX ? undefined : `${fieldText(field)} = ${value}`;
}

function fieldText(field: PageField): string {
  return field.of === "param" || field.of === "tag" || field.of === "run" ? printField(field) : "";
}

function literalOf(run: Run, field: PageField): string | undefined {
  switch (field.of) {
    case "tag": {
      const value = ownValue(run.tags, field.key);
      return value === undefined ? undefined : quoteText(value);
    }
    case "param": {
      const leaf = paramLeaf(run, field.key);
      // Numbers and texts are written in a query as in JSON; it has no literal for the others.
      if (leaf === undefined) return undefined;
      if (leaf.type === "text") return quoteText(valueText(run, field, 0));
      return leaf.type === "bool" || /^-?\d/.test(leaf.source) ? leaf.source : undefined;
    }
    case "run": {
      const type = fieldType(field);
      if ((type !== "text" && type !== "status") || UNSHARED.has(field.name)) return undefined;
      // Of a list that holds more, no single value is what the cell shows.
      if (isProvenanceList(field.name) && provenanceValues(run, field.name).length !== 1) return undefined;
      const value = valueText(run, field, 0);
      return value === "" ? undefined : quoteText(value);
    }
    default:
      return undefined;
  }
}
