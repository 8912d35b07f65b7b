import { csvCell } from "#base/csv.ts";
import type { XKind } from "./paint/frame.ts";
import type { Line } from "./lines/line.ts";

/**
 * The data of a chart, one row per point: exact points have only a value, buckets also their smallest and largest. A
 * text that a spreadsheet would treat as a formula gets an apostrophe in front.
 */
export function chartCsv(key: string, lines: readonly Line[], xKind: XKind, xName = "x"): string {
  const ranged = lines.some(({ low }) => low !== undefined);
  const x = xKind === "metric" ? csvCell(xName) : X_COLUMNS[xKind];
  const rows = [`run,${x},${csvCell(key)}${ranged ? ",min,max" : ""}`];
  for (const line of lines) {
    const name = csvCell(line.name);
    const { y, low = y, high = y, words } = line;
    for (let i = 0; i < line.x.length; i++) {
      const value = words === undefined ? String(y[i]) : csvCell(words[y[i]!] ?? "");
      const range = ranged ? `,${low[i]},${high[i]}` : "";
      rows.push(`${name},${line.x[i]},${value}${range}`);
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

const X_COLUMNS = { step: "step", time: "time_us", relative: "relative_us" } as const;
