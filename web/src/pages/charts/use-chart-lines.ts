import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Line } from "../../charts/line.ts";
import type { Reduction } from "../../charts/reduce.ts";
import type { KeyEntry } from "./catalogue.ts";
import { groupLines, linesOf } from "./chart-lines.ts";
import { bucketsFor, type PanelView } from "./panel-view.ts";
import { readGroups } from "./read-groups.ts";
import { readLines } from "./read-lines.ts";

export interface ChartLines {
  /** Undefined until something has come. */
  lines: readonly Line[] | undefined;
  error: unknown;
  /** Labels were put together because there would be too many lines. */
  tooMany: boolean;
  retry(): void;
}

const LINES_MAX = 300;

/**
 * What a chart draws. Everything is read once at the resolution of the chart; while a part is zoomed, that part is
 * read again at its own, and drawn from the whole until it is there.
 */
export function useChartLines(entry: KeyEntry, view: PanelView): ChartLines {
  const { grouping } = view;
  const runs = useRunLines(entry, view, grouping === undefined);
  const groups = useGroupLines(entry, view);
  return grouping === undefined ? runs : groups;
}

function useRunLines(entry: KeyEntry, view: PanelView, enabled: boolean): ChartLines {
  const { key, hasLabels, seriesCount } = entry;
  const { runIds, xKind, range, chartWidth, startsUs, runs, labels, baseline, dark } = view;
  const wanted = labels === "heat" ? undefined : labels;
  const tooMany = wanted === undefined && hasLabels && seriesCount > LINES_MAX;
  const reduction: Reduction | undefined = wanted ?? (tooMany ? "mean" : undefined);
  const buckets = bucketsFor(chartWidth, Math.max(seriesCount, runIds.length));
  const request = { key, runIds, hasLabels, xKind, buckets, startsUs };
  const whole = useQuery({
    queryKey: ["chart", key, xKind, runIds, hasLabels, buckets],
    queryFn: ({ signal }) => readLines({ ...request, range: undefined }, signal),
    // Other runs or another width: the lines that are there stay until the new ones come.
    placeholderData: (last, query) => (query?.queryKey[2] === xKind ? last : undefined),
    enabled: enabled && view.isReady,
  });
  const part = useQuery({
    queryKey: ["chart", key, xKind, runIds, hasLabels, buckets, range],
    queryFn: ({ signal }) => readLines({ ...request, range }, signal),
    enabled: enabled && view.isReady && range !== undefined,
  });
  const inPart = range === undefined ? undefined : part.data;
  const lines = useMemo(() => {
    if (whole.data === undefined) return undefined;
    const options = { labels: reduction, baseline, dark };
    return inPart === undefined
      ? linesOf(whole.data, runs, options)
      : linesOf(inPart, runs, { ...options, whole: whole.data });
  }, [whole.data, inPart, runs, reduction, baseline, dark]);
  const retry = (): void => {
    void whole.refetch();
    if (range !== undefined) void part.refetch();
  };
  return { lines, error: whole.error ?? part.error, tooMany, retry };
}

function useGroupLines(entry: KeyEntry, view: PanelView): ChartLines {
  const { grouping, groups, range, chartWidth } = view;
  // The server knows no start of a run: groups are by step then.
  const xKind = view.xKind === "relative" ? "step" : view.xKind;
  const asked = groups.map(({ name, runIds }) => ({ name, runIds }));
  const buckets = bucketsFor(chartWidth / 2, asked.length);
  const read = useQuery({
    queryKey: [
      "chart",
      entry.key,
      xKind,
      asked,
      grouping,
      buckets,
      view.xKind === "relative" ? undefined : range,
    ],
    queryFn: ({ signal }) =>
      readGroups({ key: entry.key, groups: asked, grouping: grouping!, xKind, range, buckets }, signal),
    placeholderData: (last, query) => (query?.queryKey[2] === xKind ? last : undefined),
    enabled: grouping !== undefined,
  });
  const lines = useMemo(
    () => (read.data === undefined ? undefined : groupLines(read.data, groups)),
    [read.data, groups],
  );
  return { lines, error: read.error, tooMany: false, retry: () => void read.refetch() };
}
