import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, type KeyboardEvent } from "react";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { Button } from "../../../widgets/button.tsx";
import { ChevronLeft, ChevronRight } from "../../../widgets/icons/icons.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { artifactsOfRun, type Listed } from "../../../data/runs/run-queries.ts";
import { artifactAt, stepsOf } from "../../../panels/artifacts/artifact-steps.ts";
import type { PanelProps } from "../differences/differences-panel.tsx";
import { MediaCell } from "./media-cell.tsx";
import styles from "./media-panel.module.css";
import { mediaRows, nearestStep } from "./media-steps.ts";
import { Swatch } from "../swatch.tsx";

/** Rows drawn at most; each may be a picture per run. */
const ROWS_MAX = 50;

/** Media of the runs by name, all at one step. */
export function MediaPanel({ runs, order, search, onChange }: PanelProps) {
  const { byRun, isPending, error } = useQueries({
    queries: runs.map(({ id }) => artifactsOfRun(id)),
    combine: combineArtifacts,
  });
  const rows = useMemo(() => mediaRows(byRun), [byRun]);
  const steps = useMemo(() => stepsOf(rows.flatMap(({ artifacts }) => artifacts.flat())), [rows]);
  const step = nearestStep(steps, search.step);
  if (isPending) return <Skeleton lines={8} height={24} />;
  if (error !== undefined) return <ErrorNote error={error} />;
  if (rows.length === 0) {
    return (
      <EmptyState title="No media in these runs">
        <p>Images, sounds, texts and tables that runs logged by the same name are shown here side by side.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.panel}>
      {step !== undefined && (
        <Stepper steps={steps} step={step} onStep={(chosen) => onChange({ ...search, step: chosen }, true)} />
      )}
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Media side by side">
        <table className={styles.table}>
          <caption className="unseen">Media by name, one column per run, the baseline first</caption>
          <thead>
            <tr>
              <th scope="col">
                <span className="unseen">Name</span>
              </th>
              {runs.map((run) => (
                <th key={run.id} scope="col">
                  <Swatch place={order.indexOf(run.id)} /> <Name text={run.name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, ROWS_MAX).map(({ name, artifacts }) => (
              <tr key={name}>
                <th scope="row">
                  <Name text={name} />
                </th>
                {artifacts.map((own, i) => (
                  <td key={runs[i]!.id}>
                    {/* The latest up to the step, because runs may log at different steps. */}
                    <MediaCell artifact={artifactAt(own, step ?? Infinity)} runName={runs[i]!.name} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length > ROWS_MAX && (
          <p className={styles.more}>
            and {formatCount(rows.length - ROWS_MAX)} more names, on the pages of the runs
          </p>
        )}
      </div>
    </div>
  );
}

function combineArtifacts(results: readonly UseQueryResult<Listed<Artifact>>[]) {
  return {
    byRun: results.map(({ data }) => data?.items ?? []),
    isPending: results.some((result) => result.isPending),
    error: results.find(({ error }) => error !== null)?.error ?? undefined,
  };
}

function Stepper({
  steps,
  step,
  onStep,
}: {
  steps: readonly number[];
  step: number;
  onStep: (step: number) => void;
}) {
  const place = steps.indexOf(step);
  const go = (to: number) => {
    const wanted = steps[to];
    if (wanted !== undefined) onStep(wanted);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Home") go(0);
    else if (event.key === "End") go(steps.length - 1);
  };
  return (
    <div className={styles.stepper}>
      <Button quiet label="Earlier step" disabled={place <= 0} onClick={() => go(place - 1)}>
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <input
        type="range"
        aria-label="Step"
        aria-valuetext={`step ${step}`}
        min={0}
        max={steps.length - 1}
        value={place}
        onChange={(event) => go(Number(event.target.value))}
        onKeyDown={onKeyDown}
      />
      <Button quiet label="Later step" disabled={place >= steps.length - 1} onClick={() => go(place + 1)}>
        <ChevronRight size={16} aria-hidden />
      </Button>
      <output>
        step {formatCount(step)}{" "}
        <span className={styles.of}>
          · {formatCount(place + 1)} of {formatCount(steps.length)}
        </span>
      </output>
    </div>
  );
}
