import { useQueries, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { listKeys } from "#sdk/pages.ts";
import { useLive } from "../../data/live-hooks.ts";
import { askedTimes, namespaces, runById } from "../../data/queries.ts";
import { quoteList } from "#lang/query/quote.ts";
import { cairn } from "../../data/server.ts";
import { throttle } from "../../data/throttle.ts";
import type { MetricMeaning } from "./compare-metrics.ts";
import { objectiveOf, seriesOfRun, type Listed } from "../run/queries.ts";

export interface MissingRun {
  id: string;
  error: unknown;
}

export interface Comparison {
  /** Those that can be read, the baseline first. */
  runs: readonly Run[];
  missing: readonly MissingRun[];
  /** Some run has not come. */
  isPending: boolean;
}

/** The runs of the address, kept current. */
export function useComparison(ids: readonly string[]): Comparison {
  const { found, failed, isPending } = useQueries({ queries: ids.map(runById), combine: combineRuns });
  useRunsLive(ids);
  return useMemo(() => {
    const byId = new Map(found.map((run) => [run.id, run]));
    const runs = ids.flatMap((id) => byId.get(id) ?? []);
    const missing = ids.flatMap((id, i) => (failed[i] == null ? [] : [{ id, error: failed[i] }]));
    return { runs, missing, isPending };
  }, [ids.join(), found, failed, isPending]);
}

function combineRuns(results: readonly UseQueryResult<Run>[]) {
  return {
    found: results.flatMap(({ data }) => data ?? []),
    failed: results.map(({ error }) => error),
    isPending: results.some((result) => result.isPending),
  };
}

export interface ComparedSeries {
  /** Per run, in the order of the runs. */
  series: readonly (readonly SeriesInfo[])[];
  isPending: boolean;
  error: unknown;
  /** Some run has more series than were read. */
  hasMore: boolean;
}

export function useComparedSeries(runs: readonly Run[]): ComparedSeries {
  const queryClient = useQueryClient();
  const running = runs.filter(({ status }) => status === RunStatus.RUNNING).map(({ id }) => id);
  const again = useMemo(
    () =>
      throttle(SUMMARIES_EVERY_MS, () => {
        for (const id of running) void queryClient.invalidateQueries({ queryKey: seriesOfRun(id).queryKey });
      }),
    [running.join(), queryClient],
  );
  useEffect(() => again.stop, [again]);
  const askedMs = () => askedTimes.oldestOf(...running.map((id) => seriesOfRun(id).queryKey));
  useLive(
    running.length === 0 ? undefined : { kind: "series", runIds: running, glob: "" },
    askedMs,
    ({ kind }) => {
      if (kind === "points" || kind === "stale") again.ask();
    },
  );
  return useQueries({ queries: runs.map(({ id }) => seriesOfRun(id)), combine: combineSeries });
}

/** Summaries are read anew, not polled: only after points have come, and no faster than a person reads. */
const SUMMARIES_EVERY_MS = 2_000;

function combineSeries(results: readonly UseQueryResult<Listed<SeriesInfo>>[]): ComparedSeries {
  return {
    series: results.map(({ data }) => data?.items ?? []),
    isPending: results.some((result) => result.isPending),
    error: results.find(({ error }) => error !== null)?.error ?? undefined,
    hasMore: results.some(({ data }) => data?.hasMore === true),
  };
}

/** What metrics mean where the baseline is. */
export function useMeaning(namespace: string | undefined): MetricMeaning {
  const { data: tree } = useQuery(namespaces);
  const { data: keys } = useQuery({
    queryKey: ["keys", namespace],
    queryFn: ({ signal }) => listKeys(cairn, namespace!, { signal }),
    enabled: namespace !== undefined,
  });
  return useMemo(
    () => ({
      keys: keys ?? [],
      objective: namespace === undefined ? undefined : objectiveOf(tree ?? [], namespace),
    }),
    [keys, tree, namespace],
  );
}

function useRunsLive(ids: readonly string[]): void {
  const queryClient = useQueryClient();
  const query = `id in ${quoteList(ids)}`;
  useLive(
    ids.length === 0 ? undefined : { kind: "runs", query, namespace: "", columns: ["notes"] },
    () => askedTimes.oldestOf(...ids.map((id) => runById(id).queryKey)),
    (event) => {
      const changed =
        event.kind === "runs"
          ? [...event.runs.map(({ id }) => id), ...event.left]
          : event.kind === "stale"
            ? ids
            : [];
      // Other runs that changed are told of, too; only ours are read again.
      for (const id of changed) {
        if (ids.includes(id))
          void queryClient.invalidateQueries({ queryKey: runById(id).queryKey, exact: true });
      }
    },
  );
}
