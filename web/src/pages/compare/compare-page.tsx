import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { AddRun } from "./add-run.tsx";
import { ComparedCharts } from "./compared-charts.tsx";
import styles from "./compare-page.module.css";
import { DifferencesPanel } from "./differences/differences-panel.tsx";
import { MissingRuns } from "./missing-runs.tsx";
import { COMPARE_TABS, runsOf, RUNS_MAX, withoutRun, withRun, type CompareSearch } from "./search.ts";
import { useComparison } from "./use-comparison.ts";

/** Previews of every kind of file come with it. */
const MediaPanel = lazy(async () => ({ default: (await import("./media/media-panel.tsx")).MediaPanel }));

const TABS = [
  { value: "differences", label: "Differences" },
  { value: "charts", label: "Charts" },
  { value: "media", label: "Media" },
];

/** Two or more runs, side by side: differences, curves, and media. */
export function ComparePage() {
  const search = useSearch({ from: "/compare" });
  const navigate = useNavigate({ from: "/compare" });
  const href = useLocation({ select: (at) => at.href });
  const { ids, order, leftOut } = useMemo(() => runsOf(search), [search.runs, search.base]);
  const { compared, missing, error } = useComparison(ids, search.stat ?? "best");
  const runs = compared?.runs ?? [];
  const change = (next: CompareSearch, replace = false) =>
    void navigate({ to: "/compare", search: next, replace });
  const tab = search.tab ?? "differences";
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1 className={styles.title}>{titleOf(compared === undefined ? ids.length : runs.length)}</h1>
        <span className={styles.space} />
        <AddRun
          namespace={runs[0]?.namespace ?? ""}
          taken={order}
          onAdd={(id) => change(withRun(search, id))}
        />
        <CopyButton text={location.origin + href} label="Copy link to this comparison">
          Copy link
        </CopyButton>
      </header>
      {leftOut > 0 && (
        <p className={styles.strip} role="status">
          The first {RUNS_MAX} of {formatCount(leftOut + RUNS_MAX)} runs are compared. Remove some, or choose
          fewer in the table of runs.
        </p>
      )}
      <MissingRuns missing={missing} onRemove={(id) => change(withoutRun(search, id))} />
      {ids.length === 0 ? (
        <EmptyState title="No runs to compare yet">
          <p>Add runs here, or select some in a table of runs and press Compare.</p>
        </EmptyState>
      ) : compared === undefined ? (
        error === null ? (
          <Skeleton lines={12} height={20} />
        ) : (
          <ErrorNote error={error} />
        )
      ) : (
        runs.length > 0 && (
          <Tabs
            label="Parts of the comparison"
            value={tab}
            tabs={TABS}
            onChange={(value) => {
              const { tab: _, ...rest } = search;
              const chosen = COMPARE_TABS.find((known) => known === value);
              change(chosen === undefined || chosen === "differences" ? rest : { ...rest, tab: chosen });
            }}
          >
            <TabPanel value="differences">
              <DifferencesPanel compared={compared} order={order} search={search} onChange={change} />
            </TabPanel>
            <TabPanel value="charts">
              <ComparedCharts runs={runs} order={order} search={search} onChange={change} />
            </TabPanel>
            <TabPanel value="media">
              <Suspense fallback={<Skeleton lines={8} height={24} />}>
                <MediaPanel runs={runs} order={order} search={search} onChange={change} />
              </Suspense>
            </TabPanel>
          </Tabs>
        )
      )}
    </div>
  );
}

function titleOf(count: number): string {
  if (count === 0) return "Compare runs";
  return `Compare ${countOf(count, "run")}${count === 1 ? " with others" : ""}`;
}
