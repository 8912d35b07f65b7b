import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState, useSyncExternalStore } from "react";
import { colourAt } from "../../charts/palette.ts";
import { Watched } from "../../charts/watched.ts";
import { isDark, onThemeChange } from "../../app/theme.ts";
import { EmptyState } from "../../widgets/empty-state.tsx";
import { ErrorNote } from "../../widgets/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../widgets/skeleton.tsx";
import { useWidth } from "../../widgets/use-width.ts";
import { catalogueOf, keyDescriptions } from "./catalogue.ts";
import { ChartCard } from "./chart-card.tsx";
import type { ChartGroup, ChartRun } from "./chart-lines.ts";
import { CARD_PX, ChartRows, GAP_PX } from "./chart-rows.tsx";
import styles from "./charts.module.css";
import { ChartsToolbar } from "./charts-toolbar.tsx";
import { parseKeyFilter } from "./key-filter.ts";
import type { PanelView } from "./panel-view.ts";
import {
  decoded,
  groupOf,
  rangeOf,
  rangeText,
  smoothingOf,
  withYRange,
  xKindOf,
  yRangesOf,
  type ChartSearch,
  type ChartSearchPatch,
} from "./search.ts";
import { rowsOf, sectionsOf, type Section } from "./sections.ts";
import { useLiveCharts } from "./use-live-charts.ts";

export interface ChartsPanelProps {
  /** In the order of their lines. Of more than 100 the first 100 are drawn. */
  runs: readonly ChartRun[];
  /** Where descriptions of keys hold; without it charts have no units. */
  namespace?: string;
  /** The page's address, as far as it is about charts; `onSearch` changes it. */
  search: ChartSearch;
  onSearch(patch: ChartSearchPatch, how?: "push" | "replace"): void;
  /** What "groups" means here; without it all runs are one. */
  groups?: readonly ChartGroup[];
  /** The id of the run that the others are held against. */
  baseline?: string;
}

const RUNS_MAX = 100;
const CARD_MIN_PX = 276;
const COLUMNS_MAX = 4;
const NARROW_PX = 760;
const NO_STARTS: ReadonlyMap<string, number> = new Map();

/**
 * One chart per metric of the runs given. It scrolls by itself, so give it a height; only charts that are seen are read
 * and drawn.
 */
export function ChartsPanel(props: ChartsPanelProps) {
  const { search, onSearch, baseline, namespace = "" } = props;
  const runs = useMemo(() => props.runs.slice(0, RUNS_MAX), [props.runs]);
  const given = useMemo(() => runs.map(({ id }) => id).toSorted(), [runs]);
  const catalogue = useQuery({ ...catalogueOf(given), placeholderData: (last) => last });
  const isWhole = catalogue.data !== undefined && !catalogue.isPlaceholderData;
  const missing = catalogue.data?.missing;
  const runIds = useMemo(() => given.filter((id) => !missing?.has(id)), [given, missing]);
  const { data: descriptions } = useQuery(keyDescriptions(namespace));
  const dark = useSyncExternalStore(onThemeChange, isDark);
  const cursor = useMemo(() => new Watched<number | undefined>(undefined), []);
  const moving = useMemo(() => new Watched<readonly [number, number] | undefined>(undefined), []);
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
  const shut = useMemo(() => new Set(search.shut?.split(",").map(decoded)), [search.shut]);
  const rows = useMemo(() => rowsOf(sections, columns, shut), [sections, columns, shut]);

  const latest = useRef({ onSearch, yrange: search.yrange });
  latest.current = { onSearch, yrange: search.yrange };
  const moves = useMemo((): Pick<PanelView, "onZoom" | "onZoomY" | "onReset" | "onX"> => {
    const withY = (...of: [key: string, range: readonly [number, number] | undefined]) =>
      withYRange(latest.current.yrange, ...of);
    return {
      onZoom: (range) => latest.current.onSearch({ range: rangeText(range) }),
      onZoomY: (key, range) => latest.current.onSearch({ yrange: withY(key, range) }),
      onReset: (key) => latest.current.onSearch({ range: undefined, yrange: withY(key, undefined) }),
      onX: (x) => latest.current.onSearch({ x, xkey: undefined, range: undefined }),
    };
  }, []);
  const view = useMemo(
    (): PanelView => ({
      runs,
      runIds,
      isReady: search.x !== "relative" || isWhole,
      groups: groupsOf(props.groups, runIds, missing, dark),
      grouping: groupOf(search.group),
      labels: search.labels,
      xKind: xKindOf(search),
      xKey: search.xkey,
      range: rangeOf(search.range),
      yRanges: yRangesOf(search.yrange),
      log: search.logy === true,
      clip: search.clip === true,
      rewound: search.rewound === true,
      smoothing: smoothingOf(search.smooth),
      baseline,
      dark,
      startsUs: catalogue.data?.startsUs ?? NO_STARTS,
      descriptions,
      cursor,
      moving,
      chartWidth: Math.max(CARD_MIN_PX, Math.floor((width - GAP_PX) / columns) - GAP_PX),
      ...moves,
    }),
    [
      runs,
      runIds,
      props.groups,
      missing,
      search,
      baseline,
      dark,
      catalogue.data,
      isWhole,
      descriptions,
      cursor,
      moving,
      width,
      columns,
      moves,
    ],
  );

  const toggle = (section: Section): void => {
    const next = new Set(shut);
    if (!next.delete(section.name)) next.add(section.name);
    onSearch({ shut: next.size === 0 ? undefined : [...next].map(encodeURIComponent).join(",") }, "replace");
  };
  const count = sections.reduce((sum, { keys }) => sum + keys.length, 0);
  return (
    <div className={styles.panel}>
      {/* Titles of sections come and go with scrolling; headings of charts always stand below this one. */}
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
          <NothingToDraw runs={runs.length} filtered={search.keys !== undefined} onSearch={onSearch} />
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
    return <EmptyState title="No run is chosen">Choose runs to see their charts.</EmptyState>;
  return props.filtered ? (
    <EmptyState title="No metric fits the filter">
      <button type="button" className={styles.link} onClick={() => props.onSearch({ keys: undefined })}>
        Show all metrics
      </button>
    </EmptyState>
  ) : (
    <EmptyState title="Nothing was logged yet">Charts appear with the first point.</EmptyState>
  );
}

/** Without groups all runs are one. Runs that are gone take no part: one of them would spoil the read. */
function groupsOf(
  given: readonly ChartGroup[] | undefined,
  runIds: readonly string[],
  missing: ReadonlySet<string> | undefined,
  dark: boolean,
): ChartGroup[] {
  if (given === undefined) {
    const name = runIds.length === 1 ? "1 run" : `all ${runIds.length} runs`;
    return [{ name, colour: colourAt(0, dark), dash: [], runIds }];
  }
  return given.map(({ name, colour, dash, runIds: members }) => ({
    name,
    colour,
    dash,
    runIds: members.filter((id) => missing?.has(id) !== true),
  }));
}

function wordsOf(charts: number, runs: number, given: number, isCut: boolean): string {
  const shown =
    given > RUNS_MAX
      ? `first ${runs} of ${formatCount(given)} runs`
      : `${runs} ${runs === 1 ? "run" : "runs"}`;
  const more = isCut ? "the first " : "";
  return `${more}${formatCount(charts)} ${charts === 1 ? "chart" : "charts"}, ${shown}`;
}
