/** One line of the table: what was measured, against which bar. */
export interface Figure {
  what: string;
  bar: string;
  stretch: string;
  measured: string;
  /** What was measured, in the unit it was counted in: milliseconds, bytes, points per second. */
  value: number;
  /** Whether the bar, and the stretch goal, were reached; undefined where there is none. */
  reached: "stretch" | "bar" | "missed" | undefined;
  /** CPU-seconds, writers, ratios. */
  notes: string;
}

export class Report {
  readonly figures: Figure[] = [];

  /** `better` says which direction is good; the numbers are compared as they are. */
  add(row: {
    what: string;
    value: number;
    format: (value: number) => string;
    bar?: number;
    stretch?: number;
    better: "higher" | "lower";
    notes?: string;
  }): void {
    const { what, value, format, bar, stretch, better } = row;
    const meets = (limit: number | undefined) =>
      limit !== undefined && (better === "higher" ? value >= limit : value <= limit);
    const figure: Figure = {
      what,
      bar: bar === undefined ? "" : format(bar),
      stretch: stretch === undefined ? "" : format(stretch),
      measured: format(value),
      value,
      reached: bar === undefined ? undefined : meets(stretch) ? "stretch" : meets(bar) ? "bar" : "missed",
      notes: row.notes ?? "",
    };
    this.figures.push(figure);
    process.stderr.write(`${what}: ${figure.measured} ${figure.reached ?? ""} ${figure.notes}\n`);
  }

  toString(): string {
    const head = ["what", "bar", "stretch", "measured", "reached", "notes"];
    const rows = this.figures.map((figure) => [
      figure.what,
      figure.bar,
      figure.stretch,
      figure.measured,
      figure.reached ?? "",
      figure.notes,
    ]);
    const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)));
    const line = (cells: readonly string[]) =>
      `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
    return [
      line(head),
      `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`,
      ...rows.map(line),
    ].join("\n");
  }
}

export const millions = (value: number) => `${(value / 1e6).toFixed(2)} M/s`;
export const perSecond = (value: number) => `${Math.round(value)} /s`;
export const seconds = (value: number) => `${value.toFixed(2)} s`;
export const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
export const megabytes = (value: number) => `${Math.round(value / 2 ** 20)} MB`;
export const bytesPerPoint = (value: number) => `${value.toFixed(2)} B`;

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}
