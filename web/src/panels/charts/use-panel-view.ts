import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { originOf } from "#sdk/run-facts.ts";
import { countOf } from "#lang/words/numbers.ts";
import { colourAt } from "../../charts/paint/palette.ts";
import { Watched } from "../../charts/watched.ts";
import { useDark } from "../../widgets/theme.ts";
import { catalogueOf, keyDescriptions, type Catalogue } from "./catalogue.ts";
import type { ChartsPanelProps } from "./charts-panel.tsx";
import type { ChartGroup, ChartRun } from "./lines/chart-lines.ts";
import type { PanelView } from "./panel-view.ts";
import {
  groupOf,
  rangeOf,
  rangeText,
  smoothingOf,
  withYRange,
  xKindOf,
  yRangesOf,
  type ChartSearch,
} from "./search.ts";

export const RUNS_MAX = 100;

export interface ChartedRuns {
  readonly runs: readonly ChartRun[];
  /** Existing, readable ones, sorted. */
  readonly runIds: readonly string[];
  readonly catalogue: UseQueryResult<Catalogue>;
}

/** The runs that are drawn, and their keys. While other runs are loading the last answer stays. */
export function useChartedRuns(given: readonly ChartRun[]): ChartedRuns {
  const runs = useMemo(() => given.slice(0, RUNS_MAX), [given]);
  const wanted = useMemo(() => runs.map(({ id }) => id).toSorted(), [runs]);
  const catalogue = useQuery({ ...catalogueOf(wanted), placeholderData: (last) => last });
  const missing = catalogue.data?.missing;
  const runIds = useMemo(() => wanted.filter((id) => !missing?.has(id)), [wanted, missing]);
  return { runs, runIds, catalogue };
}

/** The shared settings of all charts of the panel, which are so many pixels wide. */
export function usePanelView(
  { search, onSearch, baseline, namespace = "", groups }: ChartsPanelProps,
  { runs, runIds, catalogue }: ChartedRuns,
  chartWidth: number,
): PanelView {
  const { data: descriptions } = useQuery(keyDescriptions(namespace));
  const dark = useDark();
  const cursor = useMemo(() => new Watched<number | undefined>(undefined), []);
  const moving = useMemo(() => new Watched<readonly [number, number] | undefined>(undefined), []);
  const moves = useMoves(onSearch, search.yrange);
  const { data, isPlaceholderData } = catalogue;
  return useMemo(
    (): PanelView => ({
      runs,
      runIds,
      isReady: search.x !== "relative" || (data !== undefined && !isPlaceholderData),
      groups: groupsOf(groups, runIds, data?.missing, dark),
      ...viewOf(search),
      baseline,
      dark,
      startsUs: new Map(runs.map(({ id, startUs }) => [id, originOf(startUs, data?.firstTimesUs.get(id))])),
      namespace,
      descriptions,
      cursor,
      moving,
      chartWidth,
      ...moves,
    }),
    [
      runs,
      runIds,
      groups,
      search,
      baseline,
      dark,
      data,
      isPlaceholderData,
      namespace,
      descriptions,
      cursor,
      moving,
      chartWidth,
      moves,
    ],
  );
}

/** From the address. */
function viewOf(search: ChartSearch) {
  return {
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
  };
}

type Moves = Pick<PanelView, "onZoom" | "onZoomY" | "onReset" | "onX">;

/** Stable callbacks that change the address. */
function useMoves(onSearch: ChartsPanelProps["onSearch"], yrange: string | undefined): Moves {
  const latest = useRef({ onSearch, yrange });
  latest.current = { onSearch, yrange };
  return useMemo((): Moves => {
    const withY = (...of: [key: string, range: readonly [number, number] | undefined]) =>
      withYRange(latest.current.yrange, ...of);
    return {
      onZoom: (range) => latest.current.onSearch({ range: rangeText(range) }),
      onZoomY: (key, range) => latest.current.onSearch({ yrange: withY(key, range) }),
      onReset: (key) => latest.current.onSearch({ range: undefined, yrange: withY(key, undefined) }),
      onX: (x) => latest.current.onSearch({ x, xkey: undefined, range: undefined }),
    };
  }, []);
}

/** Without groups all runs are one. Missing runs are left out: one of them would fail the read. */
function groupsOf(
  given: readonly ChartGroup[] | undefined,
  runIds: readonly string[],
  missing: ReadonlySet<string> | undefined,
  dark: boolean,
): ChartGroup[] {
  if (given === undefined) {
    const name = `${runIds.length === 1 ? "" : "all "}${countOf(runIds.length, "run")}`;
    return [{ name, colour: colourAt(0, dark), dash: [], runIds }];
  }
  return given.map(({ name, colour, dash, runIds: members }) => ({
    name,
    colour,
    dash,
    runIds: members.filter((id) => missing?.has(id) !== true),
  }));
}
