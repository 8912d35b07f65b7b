import { formatCount } from "#lang/words/numbers.ts";
import type { ExploredColumn } from "./explored-column.ts";
import type { ExploredTable } from "./explored-table.ts";
import styles from "./explore.module.css";
import { RunFigures } from "./run-figures.tsx";

const SHOWN_MAX = 50;

/** The runs that no other beats in both. */
export function FrontierPanel({
  table,
  frontier,
  columns,
}: {
  table: ExploredTable;
  frontier: readonly number[] | undefined;
  columns: readonly ExploredColumn[];
}) {
  return (
    <section className={styles.aside} aria-label="Pareto frontier">
      <h2 className={styles.asideTitle}>Pareto frontier</h2>
      {frontier === undefined ? (
        <p className={styles.quiet}>
          Say which way x and y are better, with numbers on both, and the runs that no other beats in both are
          marked and listed here.
        </p>
      ) : frontier.length === 0 ? (
        <p className={styles.quiet}>None of the runs that remain has both values.</p>
      ) : (
        <>
          <p className={styles.quiet}>
            {frontier.length === 1
              ? "One run beats or equals"
              : `${formatCount(frontier.length)} runs: no other run beats`}
            {frontier.length === 1 ? " all others in both." : " any of them in both."}
          </p>
          <RunFigures
            label="Runs of the frontier"
            table={table}
            rows={frontier}
            columns={columns}
            max={SHOWN_MAX}
          />
        </>
      )}
    </section>
  );
}
