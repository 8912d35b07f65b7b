import type { ReactNode } from "react";
import styles from "./data-table.module.css";

export interface Column<T> {
  title: string;
  /** The title is only for screen readers: for a column of buttons. */
  isUntitled?: boolean;
  isNumber?: boolean;
  cell: (row: T) => ReactNode;
}

/** A table of a few dozen rows. For thousands use the virtual one. */
export function DataTable<T>({
  label,
  columns,
  rows,
  keyOf,
  empty,
}: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  empty: string;
}) {
  if (rows.length === 0) return <p className={styles.empty}>{empty}</p>;
  return (
    <div className={styles.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isUntitled, isNumber }) => (
              <th key={title} scope="col" className={isNumber ? styles.number : undefined}>
                {isUntitled ? <span className="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, cell }) => (
                <td key={title} className={isNumber ? styles.number : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
