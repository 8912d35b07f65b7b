import { csvRow } from "#base/csv.ts";
import type { CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { differs, metricName, partWord, textsOf } from "#sdk/comparison.ts";

/** The whole comparison as a table for a spreadsheet, equal rows too, the baseline first. */
export function compareCsv({ runs, metrics, parts }: CompareRunsResponse): string {
  const rows = [["part", "key", "differs", ...runs.map(({ name, id }) => `${name} (${id})`)]];
  for (const metric of metrics) {
    rows.push([
      "metrics",
      `${metricName(metric)} ${metric.stat}`,
      yesNo(metric.differs),
      ...metric.values.map(({ value }) => String(value ?? "")),
    ]);
  }
  for (const part of parts) {
    for (const row of part.rows) {
      const texts = textsOf(row).map((text) => text ?? "");
      rows.push([partWord(part), row.key, yesNo(differs(row)), ...texts]);
    }
  }
  return rows.map((row) => `${csvRow(row)}\r\n`).join("");
}

function yesNo(is: boolean): string {
  return is ? "yes" : "no";
}
