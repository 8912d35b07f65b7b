import { formatCount } from "#lang/words/numbers.ts";
import { placeWords } from "../columns/brush-words.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import type { ExploredTable } from "../columns/explored-table.ts";
import { FigureTable } from "./figure-table.tsx";

const ROWS_MAX = 100;

/** The figures behind a picture: a row per run, the best first. */
export function RunFigures({
  label,
  table,
  rows,
  columns,
}: {
  label: string;
  table: ExploredTable;
  rows: readonly number[];
  columns: readonly ExploredColumn[];
}) {
  return (
    <FigureTable
      label={label}
      columns={columns.map(({ text, label: name, kind }) => ({
        text,
        label: name,
        isNumber: kind === "number",
      }))}
      rows={rows.slice(0, ROWS_MAX).map((row) => ({
        id: table.runs[row]!.id,
        name: table.runs[row]!.name,
        figures: columns.map((column) => placeWords(column, row)),
      }))}
      more={
        rows.length > ROWS_MAX
          ? `The first ${ROWS_MAX} of ${formatCount(rows.length)}. “Show in the table” shows all of them.`
          : ""
      }
    />
  );
}

/** Runs that remain, the best first; those without a value last. */
export function bestFirst(mask: Uint8Array, shares: Float64Array): number[] {
  const rows: number[] = [];
  for (let i = 0; i < mask.length; i++) if (mask[i] === 1) rows.push(i);
  const rank = (row: number) => (Number.isNaN(shares[row]!) ? -1 : shares[row]!);
  return rows.sort((a, b) => rank(b) - rank(a) || a - b);
}
