import type { UseQueryResult } from "@tanstack/react-query";
import { formatCount } from "#lang/words/numbers.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import type { Frontier } from "../answers/queries.ts";
import { figureText } from "../columns/brush-words.ts";
import styles from "../figures/figures.module.css";
import { FigureTable } from "../figures/figure-table.tsx";

const SHOWN_MAX = 50;

/** The Pareto frontier of all runs that remain. */
export function FrontierPanel({
  hasGoals,
  problem,
  answer: { data, error, isPlaceholderData, refetch },
}: {
  /** Whether both goals are known. */
  hasGoals: boolean;
  /** Why the filters cannot be sent to the server. */
  problem: string | undefined;
  answer: UseQueryResult<Frontier>;
}) {
  return (
    <section className={styles.aside} aria-label="Pareto frontier" aria-busy={hasGoals && isPlaceholderData}>
      <h2 className={styles.title}>Pareto frontier</h2>
      {!hasGoals ? (
        <p className={styles.said}>
          Choose numbers for x and y and which way each is better. The runs that no other run beats in both
          are then marked and listed here.
        </p>
      ) : problem !== undefined ? (
        <p className={`${styles.said} ${styles.warning}`}>
          These filters cannot be sent to the server. {visibleText(problem)} Clear that filter to see the
          frontier of the runs that remain.
        </p>
      ) : (
        <>
          {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {data !== undefined && <Listed frontier={data} />}
          {data === undefined && error === null && (
            <div className={styles.waiting}>
              <Skeleton lines={6} height={20} />
            </div>
          )}
        </>
      )}
    </section>
  );
}

function Listed({ frontier: { goals, runs, totalCount } }: { frontier: Frontier }) {
  if (totalCount === 0n) return <p className={styles.said}>None of the runs that remain has both values.</p>;
  const total = formatCount(Number(totalCount));
  return (
    <>
      <p className={styles.said}>
        {totalCount === 1n
          ? "One run beats or equals all others in both."
          : `${total} runs: no other run beats any of them in both.`}
      </p>
      <FigureTable
        label="Runs of the frontier"
        columns={goals.map(({ label }, i) => ({ text: String(i), label, isNumber: true }))}
        rows={runs.slice(0, SHOWN_MAX).map(({ runId, runName, values }) => ({
          id: runId,
          name: runName,
          figures: values.map(figureText),
        }))}
        more={runs.length > SHOWN_MAX ? `The first ${SHOWN_MAX} of ${total}.` : ""}
      />
    </>
  );
}
