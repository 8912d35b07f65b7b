import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { bestStat } from "#sdk/direction.ts";
import { useObjective } from "../../../data/queries.ts";
import { Button } from "../../../widgets/button.tsx";
import { ChevronLeft, ChevronRight, Target } from "../../../widgets/icons/icons.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { formatNumber } from "#lang/words/numbers.ts";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { MediaCard } from "./media-card.tsx";
import { stepsOf } from "../../../panels/artifacts/artifact-steps.ts";
import { mediaKeys, nearestStep, versionAt } from "./media-steps.ts";
import styles from "./media.module.css";
import { artifactsOfRun, seriesOfRun } from "../../../data/runs/run-queries.ts";

const route = getRouteApi("/r/$run");
const KEYS_MAX = 60;

/** Pictures, sounds and curves of the run, all at one step. */
export function MediaTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(artifactsOfRun(run.id));
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useMemo(() => mediaKeys(data?.items ?? []), [data]);
  const steps = useMemo(() => stepsOf(keys.flatMap(({ versions }) => versions)), [keys]);
  const best = useBest(run);
  const pinned = best === undefined ? steps.length - 1 : nearestStep(steps, best.step);
  const at = search.step === undefined ? pinned : nearestStep(steps, search.step);
  const go = (index: number) => {
    const step = steps[Math.max(0, Math.min(steps.length - 1, index))];
    if (step !== undefined)
      void navigate({ resetScroll: false, search: (now) => ({ ...now, step }), replace: true });
  };
  useArrowKeys((by) => go(at + by));
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} height={60} />;
  if (keys.length === 0) {
    return (
      <EmptyState title="No media">
        Images, audio, tables, histograms and curves that the run logs appear here, step by step.
      </EmptyState>
    );
  }
  const step = steps[at] ?? 0;
  return (
    <div className={styles.media}>
      {steps.length > 0 && (
        <div className={styles.stepper} role="group" aria-label="Step of all media">
          <Button label="Earlier step (←)" onClick={() => go(at - 1)} disabled={at <= 0} quiet>
            <ChevronLeft size={16} aria-hidden />
          </Button>
          <input
            type="range"
            className={styles.slider}
            aria-label="Step"
            aria-valuetext={`step ${step}`}
            min={0}
            max={Math.max(0, steps.length - 1)}
            value={at}
            onChange={(event) => go(Number(event.target.value))}
          />
          <Button label="Later step (→)" onClick={() => go(at + 1)} disabled={at >= steps.length - 1} quiet>
            <ChevronRight size={16} aria-hidden />
          </Button>
          <output className={styles.step}>
            step <b>{step}</b>, {at + 1} of {steps.length}
          </output>
          {best !== undefined && (
            <Button
              aria-pressed={at === pinned}
              onClick={() => go(pinned)}
              title={`${visibleText(cutText(best.metric, 100))} is best at step ${best.step}`}
            >
              <Target size={14} aria-hidden /> <Name text={best.metric} /> {formatNumber(best.value)} at{" "}
              {best.step}
            </Button>
          )}
        </div>
      )}
      <div className={styles.grid}>
        {keys.slice(0, KEYS_MAX).map((key) => (
          <MediaCard key={key.name} artifact={versionAt(key, step)} step={step} versions={key.versions} />
        ))}
      </div>
      {keys.length > KEYS_MAX && (
        <p className={styles.more}>And {keys.length - KEYS_MAX} more keys: the Artifacts tab has all.</p>
      )}
    </div>
  );
}

/** Calls with -1 for the left and 1 for the right arrow, unless another element handles the key. */
function useArrowKeys(onStep: (by: number) => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element &&
        event.target.closest("input, textarea, select, audio, video, [role=tablist], [role=tree]") !== null;
      if (isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "ArrowLeft") onStep(-1);
      else if (event.key === "ArrowRight") onStep(1);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });
}

/** The best step of the run by the objective of its namespace. */
function useBest(run: Run): { metric: string; step: number; value: number } | undefined {
  const { data: series } = useQuery(seriesOfRun(run.id));
  const objective = useObjective(run.namespace);
  const summary = series?.items.find(
    ({ key, labels }) => key === objective?.metric && Object.keys(labels).length === 0,
  )?.summary;
  const sample = summary?.[bestStat(objective?.direction)];
  if (objective === undefined || sample?.step === undefined) return undefined;
  return { metric: objective.metric, step: Number(sample.step), value: sample.value };
}
