import { useMemo, useState } from "react";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { useWidth } from "../../widgets/use-width.ts";
import { ChartCard } from "./chart-card.tsx";
import type { ChartGroup, ChartRun } from "./lines/chart-lines.ts";
import { CARD_PX, ChartRows, GAP_PX } from "./chart-rows.tsx";
import styles from "./charts.module.css";
import { ChartsToolbar } from "./charts-toolbar.tsx";
import { parseKeyFilter } from "./key-filter.ts";
import { decoded, type ChartSearch, type ChartSearchPatch } from "./search.ts";
import { rowsOf, sectionsOf, type Section } from "./sections.ts";
import { useLiveCharts } from "./use-live-charts.ts";
import { RUNS_MAX, useChartedRuns, usePanelView } from "./use-panel-view.ts";

export interface ChartsPanelProps {
  /** In the order of their lines. Of more than 100 the first 100 are drawn. */
  runs: readonly ChartRun[];
  /** The namespace of the descriptions of keys; without it charts have no units. */
  namespace?: string;
  /** The chart parameters of the page's address; `onSearch` changes it. */
  search: ChartSearch;
  onSearch(patch: ChartSearchPatch, how?: "push" | "replace"): void;
  /** What "groups" means here; without it all runs are one. */
  groups?: readonly ChartGroup[];
  /** The id of the baseline. */
  baseline?: string;
}

const CARD_MIN_PX = 276;
const COLUMNS_MAX = 4;
const NARROW_PX = 760;

/**
 * One chart per metric of the runs given. It scrolls itself, so give it a height; only visible charts are read and
 * drawn.
 */
export function ChartsPanel(props: ChartsPanelProps) {
  const { search, onSearch } = props;
  const charted = useChartedRuns(props.runs);
  const { catalogue, runIds } = charted;
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  const width = useWidth(scroller);
  useLiveCharts(runIds, catalogue.data);

  const entries = catalogue.data?.entries;
  const filter = useMemo(() => parseKeyFilter(search.keys ?? ""), [search.keys]);
  const sections = useMemo(() => {
    const keys = entries?.keys() ?? [];
    return sectionsOf(filter.error === undefined ? [...keys].filter(filter.fits) : keys);
  }, [entries, filter]);
  const allKeys = useMemo(() => sectionsOf(entries?.keys() ?? []).flatMap(({ keys }) => keys), [entries]);
  const columns = Math.max(1, Math.min(COLUMNS_MAX, Math.floor((width + GAP_PX) / (CARD_MIN_PX + GAP_PX))));
  const folded = useMemo(() => new Set(search.shut?.split(",").map(decoded)), [search.shut]);
  const rows = useMemo(() => rowsOf(sections, columns, folded), [sections, columns, folded]);
  const chartWidth = Math.max(CARD_MIN_PX, Math.floor((width - GAP_PX) / columns) - GAP_PX);
  const view = usePanelView(props, charted, chartWidth);

  const toggle = (section: Section): void => {
    const next = new Set(folded);
    if (!next.delete(section.name)) next.add(section.name);
    onSearch({ shut: next.size === 0 ? undefined : [...next].map(encodeURIComponent).join(",") }, "replace");
  };
  const count = sections.reduce((sum, { keys }) => sum + keys.length, 0);
  return (
    <div className={styles.panel}>
      {/* Titles of sections are virtual; headings of charts are always below this one. */}
      <h2 className={styles.unseen}>Charts</h2>
      <ChartsToolbar
        search={search}
        onSearch={onSearch}
        error={filter.error}
        hasLabels={entries?.values().some(({ hasLabels }) => hasLabels) ?? false}
        hasRewound={entries?.values().some(({ replacedCount }) => replacedCount > 0) ?? false}
        keys={allKeys}
        isNarrow={width > 0 && width < NARROW_PX}
        words={wordsOf(count, runIds.length, props.runs.length, catalogue.data?.isCut === true)}
      />
      <div className={styles.scroller} ref={setScroller}>
        {catalogue.data === undefined ? (
          catalogue.error === null ? (
            <Skeleton lines={3} height={CARD_PX - 20} />
          ) : (
            <ErrorNote error={catalogue.error} onRetry={() => void catalogue.refetch()} />
          )
        ) : rows.length === 0 ? (
          <NothingToDraw runs={props.runs.length} filtered={search.keys !== undefined} onSearch={onSearch} />
        ) : (
          width > 0 && (
            <ChartRows rows={rows} columns={columns} scroller={scroller} onToggle={toggle}>
              {(key) => {
                const entry = entries?.get(key);
                return entry === undefined ? null : <ChartCard key={key} entry={entry} view={view} />;
              }}
            </ChartRows>
          )
        )}
      </div>
    </div>
  );
}

function NothingToDraw(props: { runs: number; filtered: boolean; onSearch: ChartsPanelProps["onSearch"] }) {
  if (props.runs === 0)
    return <EmptyState title="No run selected">Select runs to see their charts.</EmptyState>;
  return props.filtered ? (
    <EmptyState title="No matches">
      <button type="button" className={styles.link} onClick={() => props.onSearch({ keys: undefined })}>
        Show all metrics
      </button>
    </EmptyState>
  ) : (
    <EmptyState title="No metrics yet">Charts appear with the first point.</EmptyState>
  );
}

function wordsOf(charts: number, runs: number, given: number, isCut: boolean): string {
  const shown = given > RUNS_MAX ? `first ${runs} of ${formatCount(given)} runs` : countOf(runs, "run");
  const more = isCut ? "the first " : "";
  return `${more}${countOf(charts, "chart")}, ${shown}`;
}
