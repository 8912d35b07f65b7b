import { Link } from "@tanstack/react-router";
import { highlightedRun } from "../../../charts/highlighted-run.ts";
import { Name } from "../../../widgets/name.tsx";
import styles from "./figures.module.css";

export interface FigureRow {
  readonly id: string;
  /** Empty where it has none. */
  readonly name: string;
  /** One per column. */
  readonly figures: readonly string[];
}

/** Runs with some of their values, one below the other. */
export function FigureTable({
  label,
  columns,
  rows,
  more,
}: {
  label: string;
  columns: readonly { text: string; label: string; isNumber: boolean }[];
  rows: readonly FigureRow[];
  /** A note below them if there are more; empty for none. */
  more: string;
}) {
  const classOf = (place: number) => (columns[place]!.isNumber ? styles.number : undefined);
  return (
    <div className={styles.figures} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            {columns.map(({ text, label: name }, place) => (
              <th key={text} scope="col" className={classOf(place)}>
                <Name text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, figures }) => (
            <tr
              key={id}
              onPointerEnter={() => highlightedRun.set(id)}
              onPointerLeave={() => highlightedRun.set(undefined)}
            >
              <th scope="row">
                <Link to="/r/$run" params={{ run: id }}>
                  <Name text={name || id} />
                </Link>
              </th>
              {figures.map((figure, place) => (
                <td key={columns[place]!.text} className={classOf(place)}>
                  <Name text={figure} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more !== "" && <p className={styles.more}>{more}</p>}
    </div>
  );
}
