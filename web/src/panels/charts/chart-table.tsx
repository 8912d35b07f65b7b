import { formatCount } from "#lang/words/numbers.ts";
import type { Line } from "../../charts/lines/line.ts";
import { factsOf } from "../../charts/lines/summary.ts";
import styles from "./charts.module.css";

/** The figures behind a chart, one row per line. */
export function ChartTable({ title, lines }: { title: string; lines: readonly Line[] }) {
  return (
    // It scrolls, so it must be focusable.
    <div className={styles.table} tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">First</th>
            <th scope="col">Last</th>
            <th scope="col">Min</th>
            <th scope="col">Max</th>
            <th scope="col">Points</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => {
            const { first, last, min, max } = factsOf(line);
            return (
              <tr key={line.id}>
                <th scope="row" title={line.name}>
                  {line.name}
                </th>
                <td>{first}</td>
                <td>{last}</td>
                <td>{min}</td>
                <td>{max}</td>
                <td>{formatCount(line.pointCount)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
