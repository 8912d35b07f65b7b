import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useLive } from "../../data/live/hooks.ts";
import { runById } from "../../data/queries.ts";
import { serverClock } from "../../data/server.ts";
import { readShortId } from "../../data/runs/short-id.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { cutText, visibleText } from "../../prepare/visible-text.ts";
import { NoRun } from "./no-run.tsx";
import { OverviewTab } from "./overview/overview-tab.tsx";
import { RunByShortId } from "./run-by-short-id.tsx";
import { RunHeader } from "./run-header.tsx";
import styles from "./run.module.css";
import { RUN_TABS, type RunTab } from "./search.ts";
import { useAtMostEvery } from "./use-at-most-every.ts";

const route = getRouteApi("/r/$run");
/** Summaries are read again at most this often while points arrive. */
const SERIES_EVERY_MS = 800;
const RUN_EVERY_MS = 250;
const TITLE_LENGTH_MAX = 80;

const LABELS: Readonly<Record<RunTab, string>> = {
  overview: "Overview",
  charts: "Charts",
  artifacts: "Artifacts",
  media: "Media",
  logs: "Logs",
  system: "System",
  provenance: "Provenance",
  lineage: "Lineage",
};

const ChartsTab = lazy(async () => ({ default: (await import("./charts-tab.tsx")).ChartsTab }));
const SystemTab = lazy(async () => ({ default: (await import("./system-tab.tsx")).SystemTab }));
const ArtifactsTab = lazy(async () => ({ default: (await import("./artifacts-tab.tsx")).ArtifactsTab }));
const MediaTab = lazy(async () => ({ default: (await import("./media/media-tab.tsx")).MediaTab }));
const LogsTab = lazy(async () => ({ default: (await import("./logs/logs-tab.tsx")).LogsTab }));
const ProvenanceTab = lazy(async () => ({
  default: (await import("./provenance/provenance-tab.tsx")).ProvenanceTab,
}));
const LineageTab = lazy(async () => ({ default: (await import("./lineage/lineage-tab.tsx")).LineageTab }));

/** One run: its head above, its tabs below. */
export function RunPage() {
  const { run: id } = route.useParams();
  const short = readShortId(id);
  return short === undefined ? <RunById id={id} /> : <RunByShortId text={short} waiting={<Waiting />} />;
}

function RunById({ id }: { id: string }) {
  const { data: run, error, refetch } = useQuery(runById(id));
  if (run !== undefined) return <LoadedRun key={run.id} run={run} />;
  return error === null ? <Waiting /> : <NoRun id={id} error={error} onRetry={() => void refetch()} />;
}

function Waiting() {
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <Skeleton lines={2} height={20} />
      </div>
      <div className={styles.scroll}>
        <Skeleton lines={12} />
      </div>
    </div>
  );
}

function LoadedRun({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const heardMs = useRunChanges(run.id);
  useTitle(run.name);
  const tab = search.tab ?? "overview";
  const open = (value: string) =>
    void navigate({
      search: (now) => {
        const { tab: _, ...rest } = now;
        return value === "overview" ? rest : { ...rest, tab: value as Exclude<RunTab, "overview"> };
      },
    });
  return (
    <div className={styles.page}>
      <RunHeader run={run} heardMs={heardMs} />
      <Tabs
        label="Parts of the run"
        value={tab}
        tabs={RUN_TABS.map((value) => ({ value, label: LABELS[value] }))}
        onChange={open}
      >
        <Part value="overview">
          <OverviewTab run={run} />
        </Part>
        <Part value="charts">
          <ChartsTab run={run} />
        </Part>
        <Part value="artifacts">
          <ArtifactsTab run={run} />
        </Part>
        <Part value="media">
          <MediaTab run={run} />
        </Part>
        <Part value="logs">
          <LogsTab run={run} />
        </Part>
        <Part value="system">
          <SystemTab run={run} />
        </Part>
        <Part value="provenance">
          <ProvenanceTab run={run} />
        </Part>
        <Part value="lineage">
          <LineageTab run={run} />
        </Part>
      </Tabs>
    </div>
  );
}

/** Everything about the run is read again when it changes. Returns the time of its last activity. */
function useRunChanges(id: string): number {
  const client = useQueryClient();
  const [heardMs, setHeardMs] = useState(0);
  const readRun = useAtMostEvery(RUN_EVERY_MS, () => {
    for (const what of [
      ["run", id],
      ["run", id, "artifacts"],
      ["run", id, "links"],
      ["run", id, "lineage"],
    ]) {
      void client.invalidateQueries({ queryKey: what, exact: true });
    }
  });
  const readSeries = useAtMostEvery(SERIES_EVERY_MS, () => {
    void client.invalidateQueries({ queryKey: ["run", id, "series"], exact: true });
    void client.invalidateQueries({ queryKey: ["run", id, "sparklines"] });
  });
  const shown = [["run", id]];
  // Also when it goes to the trash, where no query finds it.
  useLive({ kind: "runs", query: `id = "${id}"`, namespace: "", columns: ["aliases"] }, shown, (event) => {
    if (
      event.kind === "stale" ||
      (event.kind === "runs" && (event.runs.some((one) => one.id === id) || event.left.includes(id)))
    ) {
      readRun();
    }
    if (event.kind === "runs") setHeardMs(serverClock.now());
  });
  useLive({ kind: "series", runIds: [id] }, shown, (event) => {
    if (event.kind === "points" || event.kind === "stale") readSeries();
    if (event.kind === "points") setHeardMs(serverClock.now());
  });
  return heardMs;
}

function useTitle(name: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = `${cutText(visibleText(name), TITLE_LENGTH_MAX)} · Cairn`;
    return () => {
      document.title = before;
    };
  }, [name]);
}

function Part({ value, children }: { value: RunTab; children: ReactNode }) {
  return (
    <TabPanel value={value}>
      <Suspense fallback={<Skeleton lines={8} />}>{children}</Suspense>
    </TabPanel>
  );
}
