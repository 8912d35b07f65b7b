import { cut, padEnd, padStart, paint, widthOf } from "./text.ts";

export interface Column {
  title: string;
  align?: "left" | "right";
  /** Never cut narrower than this; columns that may be cut share what is missing. */
  minWidth?: number;
  /** Whether it may be cut when the terminal is too narrow. */
  shrink?: boolean;
}

export interface TableOptions {
  colour: boolean;
  /** Width of the terminal; rows are cut to it. Infinity for pipes. */
  columns: number;
}

const GAP = "  ";

/** Rows under their titles, each column as wide as its widest cell. Cells must be printable; they may be styled. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const widths = columns.map((column, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[i] ?? "")), widthOf(column.title)),
  );
  shrink(columns, widths, options.columns);
  const line = (cells: readonly string[]) =>
    columns
      .map((column, i) => {
        const cell = fit(cells[i] ?? "", widths[i]!);
        return column.align === "right" ? padStart(cell, widths[i]!) : padEnd(cell, widths[i]!);
      })
      .join(GAP)
      .trimEnd();
  const head = paint(options.colour, "dim", line(columns.map(({ title }) => title)));
  return [head, ...rows.map(line)].join("\n");
}

/** A styled cell that must be cut loses its style. */
function fit(cell: string, width: number): string {
  return widthOf(cell) <= width ? cell : cut(cell.replaceAll(/\u001b\[[0-9;]*m/g, ""), width);
}

function shrink(columns: readonly Column[], widths: number[], room: number): void {
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  for (let over = total() - room; over > 0; over--) {
    let widest = -1;
    for (const [i, column] of columns.entries()) {
      if (column.shrink !== true || widths[i]! <= (column.minWidth ?? 6)) continue;
      if (widest < 0 || widths[i]! > widths[widest]!) widest = i;
    }
    if (widest < 0) return;
    widths[widest]!--;
  }
}
