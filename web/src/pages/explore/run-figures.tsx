import { Link } from "@tanstack/react-router";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import { litRun } from "../../data/hover.ts";
import { placeWords } from "./brush-words.ts";
import type { ExploredColumn } from "./explored-column.ts";
import type { ExploredTable } from "./explored-table.ts";
import styles from "./explore.module.css";

const ROWS_MAX = 100;

/** The figures behind a picture: a row per run, the best first. */
export function RunFigures({
  label,
  table,
  rows,
  columns,
  max = ROWS_MAX,
}: {
  label: string;
  table: ExploredTable;
  rows: readonly number[];
  columns: readonly ExploredColumn[];
  max?: number;
}) {
  return (
    <div className={styles.figures} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            {columns.map((column) => (
              <th
                key={column.text}
                scope="col"
                className={column.kind === "number" ? styles.number : undefined}
              >
                <Name text={column.label} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, max).map((row) => {
            const run = table.runs[row]!;
            return (
              <tr
                key={run.id}
                onPointerEnter={() => litRun.set(run.id)}
                onPointerLeave={() => litRun.set(undefined)}
              >
                <th scope="row">
                  <Link to="/r/$run" params={{ run: run.id }}>
                    <Name text={run.name || run.id} />
                  </Link>
                </th>
                {columns.map((column) => (
                  <td key={column.text} className={column.kind === "number" ? styles.number : undefined}>
                    <Name text={placeWords(column, row)} />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > max && (
        <p className={styles.quiet}>
          The first {max} of {formatCount(rows.length)}. “Show in the table” shows all of them.
        </p>
      )}
    </div>
  );
}

/** Runs that remain, the best first; those without a value last. */
export function bestFirst(mask: Uint8Array, shares: Float64Array): number[] {
  const rows: number[] = [];
  for (let i = 0; i < mask.length; i++) if (mask[i] === 1) rows.push(i);
  const rank = (row: number) => (Number.isNaN(shares[row]!) ? -1 : shares[row]!);
  return rows.sort((a, b) => rank(b) - rank(a) || a - b);
}
