import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { cellOf } from "./cell.ts";
import type { Column } from "./layout.ts";

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NEEDS_QUOTES = /[",\r\n]/;

/** The table as comma-separated values: the columns that are shown, with whole values, and the id of each run last. */
export function tableCsv(runs: readonly Run[], columns: readonly Column[], nowMs: number): string {
  const shown = columns.filter(
    ({ field }) => field.of !== "line" && !(field.of === "run" && field.name === "id"),
  );
  const head = [...shown.map(({ text }) => text), "id"];
  const lines = runs.map((run) => [...shown.map(({ field }) => cellOf(run, field, nowMs).whole), run.id]);
  return [head, ...lines].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** A text of a stranger that begins like a formula gets an apostrophe before it, so that nothing is ever run. */
export function csvCell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
