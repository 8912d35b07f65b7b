import { csvRow } from "#base/csv.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { MetricRow } from "./compare-metrics.ts";
import { differs } from "./compare-row.ts";
import type { Section } from "./compare-runs.ts";

/** The whole comparison as a table for a spreadsheet, equal rows too, the baseline first. */
export function compareCsv(
  runs: readonly Run[],
  metrics: readonly MetricRow[],
  sections: readonly Section[],
): string {
  const rows = [["part", "key", "differs", ...runs.map(({ name, id }) => `${name} (${id})`)]];
  for (const { name, stat, cells, differs: isDifferent } of metrics) {
    rows.push([
      "metrics",
      `${name} ${stat}`,
      yesNo(isDifferent),
      ...cells.map((cell) => String(cell?.value ?? "")),
    ]);
  }
  for (const { id, rows: own } of sections) {
    for (const row of own) {
      rows.push([id, row.key, yesNo(differs(row)), ...row.values.map((value) => value?.text ?? "")]);
    }
  }
  return rows.map((row) => `${csvRow(row)}\r\n`).join("");
}

function yesNo(is: boolean): string {
  return is ? "yes" : "no";
}
