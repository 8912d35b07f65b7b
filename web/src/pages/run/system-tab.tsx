import { useQuery } from "@tanstack/react-query";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { ChartsTab } from "./charts-tab.tsx";
import { isSystemKey } from "./overview/order-metrics.ts";
import { seriesOfRun } from "../../data/runs/run-queries.ts";

const SYSTEM_BY_TIME = { keys: "system/**", x: "time" } as const;

/** System metrics over time. */
export function SystemTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(seriesOfRun(run.id));
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={8} />;
  if (!data.items.some(({ key }) => isSystemKey(key))) {
    return (
      <EmptyState title="No system metrics">
        Metrics under <code>system/</code> appear here: load, memory, temperature of accelerators.
      </EmptyState>
    );
  }
  return <ChartsTab run={run} given={SYSTEM_BY_TIME} />;
}
