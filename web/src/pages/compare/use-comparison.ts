import { keepPreviousData, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { quoteList } from "#lang/query/quote.ts";
import type { CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { Failure } from "#sdk/failure.ts";
import { useLive } from "../../data/live/hooks.ts";
import { cairn } from "../../data/server.ts";
import { throttle } from "../../data/throttle.ts";
import type { MetricStat } from "./differences/metric-stat.ts";

export interface Comparison {
  /** Undefined until it is loaded. */
  compared: CompareRunsResponse | undefined;
  /** Ids of runs that do not exist or may not be read. */
  missing: readonly string[];
  error: unknown;
}

/** Not polled: read again only after the runs have changed, and not faster than a user reads. */
const REFRESH_MS = 2_000;

/** The runs of the address, kept current. */
export function useComparison(ids: readonly string[], stat: MetricStat): Comparison {
  const { data, error, isPlaceholderData } = useQuery(comparisonOf(ids, stat));
  useComparisonLive(ids, data);
  const missing = useMemo(
    () => (isPlaceholderData ? [] : (data?.missing ?? []).map((place) => ids[place]!)),
    [data, isPlaceholderData, ids],
  );
  return { compared: data, missing, error };
}

const comparisonOf = (ids: readonly string[], stat: MetricStat) =>
  queryOptions({
    queryKey: ["compare", ids, stat],
    queryFn: async ({ signal }) => {
      const request = { runs: ids.map((id) => ({ id })), stats: [stat], withPatches: true };
      try {
        return await cairn.explore.compareRuns(request, { signal });
      } catch (thrown) {
        // Runs that are too large to be shown completely may still have few differences.
        if (Failure.from(thrown).reason !== "LIMIT_EXCEEDED") throw thrown;
        return cairn.explore.compareRuns({ ...request, onlyDifferent: true }, { signal });
      }
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });

function useComparisonLive(ids: readonly string[], data: CompareRunsResponse | undefined): void {
  const queryClient = useQueryClient();
  const again = useMemo(
    () => throttle(REFRESH_MS, () => void queryClient.invalidateQueries({ queryKey: ["compare"] })),
    [queryClient],
  );
  useEffect(() => again.stop, [again]);
  const shown = [["compare"]];
  const query = `id in ${quoteList(ids)}`;
  useLive(
    ids.length === 0 ? undefined : { kind: "runs", query, namespace: "", columns: ["notes"] },
    shown,
    (event) => {
      // Changes of other runs arrive, too.
      const isOurs =
        event.kind === "stale" ||
        (event.kind === "runs" &&
          [...event.runs.map(({ id }) => id), ...event.left].some((id) => ids.includes(id)));
      if (isOurs) again.ask();
    },
  );
  const running = data?.runs.filter(({ status }) => status === RunStatus.RUNNING).map(({ id }) => id) ?? [];
  useLive(running.length === 0 ? undefined : { kind: "series", runIds: running }, shown, ({ kind }) => {
    if (kind === "points" || kind === "stale") again.ask();
  });
}
