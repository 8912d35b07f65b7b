import { useEffect, useMemo } from "react";
import { useLive } from "../../data/live/hooks.ts";
import { queryClient } from "../../data/queries.ts";
import type { Catalogue } from "./catalogue.ts";
import { Refresher } from "./refresher.ts";

const SHOWN = [["catalogue"], ["chart"]] as const;

/** Visible charts are read again when points of their key arrive; new keys get charts. */
export function useLiveCharts(runIds: readonly string[], catalogue: Catalogue | undefined): void {
  const refresher = useMemo(() => new Refresher(refetch), []);
  useEffect(() => {
    refresher.start();
    return () => refresher.stop();
  }, [refresher]);
  useLive(runIds.length === 0 ? undefined : { kind: "series", runIds }, SHOWN, (event) => {
    if (event.kind === "stale") {
      void queryClient.invalidateQueries({ queryKey: ["catalogue"] });
      void queryClient.invalidateQueries({ queryKey: ["chart"] });
    }
    if (event.kind !== "points") return;
    for (const { key } of event.series) {
      refresher.add(key);
      if (catalogue !== undefined && !catalogue.entries.has(key)) refresher.addRun(event.runId);
    }
  });
}

async function refetch(keys: ReadonlySet<string>, runIds: ReadonlySet<string>): Promise<void> {
  if (runIds.size > 0) await queryClient.invalidateQueries({ queryKey: ["catalogue"] });
  await queryClient.invalidateQueries({
    predicate: ({ queryKey }) =>
      queryKey[0] === "chart" && (keys.has(String(queryKey[1])) || keys.has(String(queryKey[3]))),
  });
}
