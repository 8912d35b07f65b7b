import { DataTable } from "../../../widgets/data-table.tsx";
import { Name } from "../../../widgets/name.tsx";
import { figureText } from "../columns/brush-words.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import type { FacetGrid } from "./facet-grid.ts";
import type { FacetCell } from "./facets.ts";
import styles from "./facets.module.css";
import { medianOf } from "../strip.ts";

/** The figures behind the grid: a row per cell, with the objective of its runs. */
export function FacetFigures({
  grid,
  judged,
  titleOf,
}: {
  grid: FacetGrid;
  judged: ExploredColumn;
  titleOf: (cell: FacetCell) => string;
}) {
  const rows = grid.cells.map((cell) => {
    const values = cell.runs.map((row) => judged.values[row]!).filter((value) => !Number.isNaN(value));
    return { cell, title: titleOf(cell), median: medianOf(values), values };
  });
  const text = (value: number | undefined) => (value === undefined ? "none" : figureText(value));
  return (
    <div className={styles.figures} tabIndex={0} role="region" aria-label="Figures of the cells">
      <DataTable
        label="Figures of the cells"
        rows={rows}
        keyOf={({ cell }) => `${cell.row} ${cell.column}`}
        empty="No cells."
        columns={[
          { title: "Cell", cell: ({ title }) => <Name text={title} /> },
          { title: "Runs", isNumber: true, cell: ({ cell }) => cell.runs.length },
          {
            title: "Lowest",
            isNumber: true,
            cell: ({ values }) => text(values.length === 0 ? undefined : Math.min(...values)),
          },
          { title: "Median", isNumber: true, cell: ({ median }) => text(median) },
          {
            title: "Highest",
            isNumber: true,
            cell: ({ values }) => text(values.length === 0 ? undefined : Math.max(...values)),
          },
        ]}
      />
    </div>
  );
}
