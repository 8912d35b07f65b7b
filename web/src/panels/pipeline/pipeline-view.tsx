import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { runById } from "../../data/queries.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { pipelineOf, type PipelineItem } from "./pipeline.ts";
import styles from "./pipeline.module.css";
import { artifactsOfRun, lineageOfRun } from "../../data/runs/run-queries.ts";

const ITEMS_MAX = 20;
const TEXT_MAX = 400;

/** Sources and provenance of a run as the steps of a pipeline. */
export function PipelineView({ runId, onLeave }: { runId: string; onLeave: () => void }) {
  const run = useQuery(runById(runId));
  const lineage = useQuery(lineageOfRun(runId));
  const artifacts = useQuery(artifactsOfRun(runId));
  const error = run.error ?? lineage.error ?? artifacts.error;
  const stages = useMemo(
    () =>
      run.data && lineage.data && artifacts.data
        ? pipelineOf(run.data, lineage.data, artifacts.data.items)
        : undefined,
    [run.data, lineage.data, artifacts.data],
  );
  if (error !== null) return <ErrorNote error={error} />;
  if (stages === undefined) return <Skeleton lines={9} height={24} />;
  return (
    <>
      <ol className={styles.stages}>
        {stages.map(({ title, items, missing }) => (
          <li
            key={title}
            className={
              items.length === 0
                ? `${styles.stage} ${styles.missing}`
                : title === "This run"
                  ? `${styles.stage} ${styles.self}`
                  : styles.stage
            }
          >
            <h3>{title}</h3>
            <div className={styles.items}>
              {items.length === 0 && <span>{missing}</span>}
              {items.slice(0, ITEMS_MAX).map((item, i) => (
                <Item key={i} item={item} onLeave={onLeave} />
              ))}
              {items.length > ITEMS_MAX && (
                <span className={styles.quiet}>and {items.length - ITEMS_MAX} more</span>
              )}
            </div>
          </li>
        ))}
      </ol>
      <p className={styles.quiet}>
        <Link to="/r/$run" params={{ run: runId }} search={{ tab: "provenance" }} onClick={onLeave}>
          Everything that is recorded
        </Link>
        {" · "}
        <Link to="/r/$run" params={{ run: runId }} search={{ tab: "lineage" }} onClick={onLeave}>
          The whole graph
        </Link>
      </p>
    </>
  );
}

function Item({ item: { text, runId, note }, onLeave }: { item: PipelineItem; onLeave: () => void }) {
  const shown = visibleText(cutText(text, TEXT_MAX));
  return (
    <span className={styles.item}>
      {runId === undefined ? (
        <code>{shown}</code>
      ) : (
        <Link to="/r/$run" params={{ run: runId }} onClick={onLeave}>
          {shown}
        </Link>
      )}
      {note !== undefined && <span className={styles.quiet}> {visibleText(cutText(note, TEXT_MAX))}</span>}
    </span>
  );
}
