import { useEffect } from "react";
import { heartbeatOf } from "../../data/runs/heartbeat.ts";
import { quoteList } from "#lang/query/quote.ts";
import type { RunList } from "../../data/runs/run-list.ts";
import { cairn } from "../../data/server.ts";

/**
 * Reads visible runs again whose heartbeat is overdue: points do not change a view without metrics, so there may have
 * been activity. Runs with heartbeats in time cost no call.
 */
export function useHeartbeats(
  list: RunList | undefined,
  seen: { current: readonly string[] },
  nowMs: number,
): void {
  useEffect(() => {
    if (list === undefined || document.hidden) return undefined;
    const overdue = seen.current.filter((id) => {
      const place = list.placeOf(id);
      const run = place === undefined ? undefined : list.at(place);
      return run !== undefined && heartbeatOf(run, nowMs)?.isOverdue === true;
    });
    if (overdue.length === 0) return undefined;
    const stop = new AbortController();
    const { namespace, columns } = list.view;
    const query = `id in ${quoteList(overdue)}`;
    cairn.runs
      .searchRuns(
        { query, namespace, columns: [...columns], pageSize: overdue.length },
        { signal: stop.signal },
      )
      .then(
        ({ runs }) => list.patch(runs),
        // The page already shows a lost connection; this is retried in a few seconds.
        () => undefined,
      );
    return () => stop.abort();
  }, [list, nowMs, seen]);
}
