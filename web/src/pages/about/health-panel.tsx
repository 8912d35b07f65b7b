import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { httpFailure } from "#sdk/http-failure.ts";
import { cairn } from "../../data/server.ts";
import { useRunChanges } from "../../data/live/hooks.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatBytes, formatCount, formatNumber } from "#lang/words/numbers.ts";
import { Facts, Panel } from "../../widgets/panel.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import styles from "./about.module.css";
import { parseMetrics, rateBetween, type Sample } from "./metrics-text.ts";

/** Load of the server: ingest, backlog, memory. Read again on request. */
export function HealthPanel() {
  const before = useRef<Sample | undefined>(undefined);
  const health = useQuery({
    queryKey: ["metrics"],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const response = await cairn.fetch("/metrics", { signal });
      if (response.status === 401 || response.status === 403) return "refused" as const;
      if (!response.ok) throw httpFailure("cannot read /metrics", response, await response.text());
      const values = parseMetrics(await response.text());
      const now = { atMs: performance.now(), points: values.get("cairn_ingested_points") ?? 0 };
      const rate = rateBetween(before.current, now);
      before.current = now;
      return { values, rate };
    },
  });
  useRunChanges(["metrics"], () => void health.refetch());
  return (
    <Panel
      title="Load"
      actions={
        <Button onClick={() => void health.refetch()} disabled={health.isFetching}>
          Refresh
        </Button>
      }
    >
      {health.error !== null ? (
        <ErrorNote error={health.error} />
      ) : health.data === undefined ? (
        <Skeleton lines={5} />
      ) : health.data === "refused" ? (
        <p className={styles.quiet}>This requires a role on everything.</p>
      ) : (
        <Facts facts={factsOf(health.data.values, health.data.rate)} />
      )}
    </Panel>
  );
}

function factsOf(values: ReadonlyMap<string, number>, rate: number | undefined) {
  const count = (name: string) => formatCount(values.get(name) ?? 0);
  return [
    ["Points per second", rate === undefined ? "shown after a refresh" : formatNumber(rate)],
    ["Points since the start", count("cairn_ingested_points")],
    ["Envelopes since the start", count("cairn_ingested_envelopes")],
    ["Waiting for the storage", `${count("cairn_backlog_envelopes")} envelopes`],
    ["Memory", formatBytes(values.get("process_resident_memory_bytes") ?? 0)],
    ["Open connections", count("cairn_connections_open")],
    ["Open watches", count("cairn_watchers")],
  ] as const;
}
