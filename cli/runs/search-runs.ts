import { printField } from "#lang/query/field-text.ts";
import { isProvenanceList, isProvenanceText } from "#lang/query/provenance-fields.ts";
import type { RunSearch as Search } from "#sdk/pages.ts";
import type { TableField } from "./table-field.ts";

/** Which runs a command lists; `pageSize` is how many. */
export type RunSearch = Required<Pick<Search, "query" | "namespace" | "trashed" | "pageSize">>;

/** What a search must fill in to show these fields. Never empty, because that would mean nearly everything. */
export function columnsFor(fields: readonly TableField[]): string[] {
  const columns = new Set<string>();
  for (const field of fields) {
    if (field.of === "age") continue;
    if (field.of === "best") for (const metric of field.byNamespace.values()) columns.add(printField(metric));
    else if (field.of !== "run") columns.add(printField(field));
    else if (field.name === "alias") columns.add("aliases");
    else if (field.name === "notes" || isProvenanceText(field.name) || isProvenanceList(field.name))
      columns.add(field.name);
  }
  return columns.size === 0 ? ["aliases"] : [...columns];
}
