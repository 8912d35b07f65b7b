import { lazy, Suspense, useMemo, useRef } from "react";
import { dashAt } from "../../charts/paint/palette.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import type { ChartGroup } from "../../panels/charts/lines/chart-lines.ts";
import type { ChartSearch, ChartSearchPatch } from "../../panels/charts/search.ts";
import { innermost } from "./table/grouping.ts";
import styles from "./runs-page.module.css";
import type { RunRows } from "./use-run-rows.ts";

/** The table is shown first, while the code of the charts is loading. */
const panel = import("../../panels/charts/charts-panel.tsx");
const ChartsPanel = lazy(async () => ({ default: (await panel).ChartsPanel }));

const GROUPS_MAX = 20;

/** Charts of the runs whose eye is open; where they are grouped, each group is one line on demand. */
export function RunCharts({
  namespace,
  rows,
  search,
  onSearch,
}: {
  namespace: string;
  rows: RunRows;
  search: ChartSearch;
  onSearch: (search: ChartSearch, replace: boolean) => void;
}) {
  const runs = useSame(rows.shown);
  const found = useMemo(
    () =>
      innermost(rows.groups)
        .slice(0, GROUPS_MAX)
        .map(({ label, runs: members }, i): ChartGroup => ({
          name: label,
          colour: rows.groupColour(i),
          dash: dashAt(i),
          runIds: members.map(({ id }) => id),
        })),
    [rows.groups, rows.groupColour],
  );
  const groups = useSame(found);
  const onPatch = (patch: ChartSearchPatch, how: "push" | "replace" = "push") => {
    const next: Record<string, unknown> = { ...search, ...patch };
    for (const [name, value] of Object.entries(next)) if (value === undefined) delete next[name];
    onSearch(next, how === "replace");
  };
  return (
    <section className={styles.charts} aria-label="Charts">
      <Suspense fallback={<Skeleton lines={3} height={180} />}>
        <ChartsPanel
          runs={runs}
          namespace={namespace}
          search={search}
          onSearch={onPatch}
          {...(groups.length > 0 && { groups })}
        />
      </Suspense>
    </section>
  );
}

/** The last value while the next has the same content, so that nothing is redrawn. */
function useSame<T>(value: T): T {
  const kept = useRef({ value, text: "" });
  const text = JSON.stringify(value);
  if (kept.current.text !== text) kept.current = { value, text };
  return kept.current.value;
}
