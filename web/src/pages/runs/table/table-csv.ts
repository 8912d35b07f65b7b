import { csvRow } from "#base/csv.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { cellOf } from "./cell.ts";
import type { Column } from "./layout.ts";

/** The table as comma-separated values: the columns that are shown, with full values, and the id of each run last. */
export function tableCsv(runs: readonly Run[], columns: readonly Column[], nowMs: number): string {
  const shown = columns.filter(
    ({ field }) => field.of !== "line" && !(field.of === "run" && field.name === "id"),
  );
  const head = [...shown.map(({ text }) => text), "id"];
  const lines = runs.map((run) => [...shown.map(({ field }) => cellOf(run, field, nowMs).whole), run.id]);
  return [head, ...lines].map((cells) => `${csvRow(cells)}\r\n`).join("");
}
