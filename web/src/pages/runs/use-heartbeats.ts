import { useEffect } from "react";
import { heartbeatOf } from "../../data/runs/heartbeat.ts";
import { quoteList } from "#lang/query/quote.ts";
import type { RunList } from "../../data/runs/run-list.ts";
import { cairn } from "../../data/server.ts";

/**
 * Asks again about runs in sight whose heartbeat is overdue: points of a run are no change of a view without metrics, so it may have been heard long since. Whoever
 * is heard in time costs no question.
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
        // The page says by itself that the server is away; it is asked again in a few seconds.
        () => undefined,
      );
    return () => stop.abort();
  }, [list, nowMs, seen]);
}
