import type { ComparedRow } from "#proto/cairn/v1/explore_pb.ts";
import { differs, textsOf } from "#sdk/comparison.ts";
import { paint, printable, widthOf } from "../output/text.ts";

const GAP = 2;

/** Whether a table would hide a part of it: references often differ only at their end, and there may be several. */
export function needsLines(row: ComparedRow, columns: number): boolean {
  const texts = textsOf(row).map((text) => text ?? "");
  if (texts.some((text) => text.includes("\n"))) return true;
  const widths = [row.key, ...texts].map((text) => widthOf(printable(text)) + GAP);
  return widths.reduce((sum, width) => sum + width, 0) > columns;
}

/** A row with a line for each value of each run, under its key. */
export function listedRow(row: ComparedRow, marks: readonly string[], colour: boolean): string[] {
  const isDifferent = differs(row);
  const lines = [paint(colour, isDifferent ? [] : "dim", printable(row.key))];
  textsOf(row).forEach((text, run) => {
    const values =
      text === undefined || text === "" ? [paint(colour, "dim", "—")] : text.split("\n").map(printable);
    values.forEach((value, i) => {
      const mark = i === 0 ? paint(colour, "dim", marks[run]!) : " ".repeat(marks[run]!.length);
      lines.push(`  ${mark}  ${isDifferent ? value : paint(colour, "dim", value)}`);
    });
  });
  return lines;
}
