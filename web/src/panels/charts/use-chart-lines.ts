import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Line } from "../../charts/lines/line.ts";
import type { Reduction } from "../../charts/lines/reduce.ts";
import type { KeyEntry } from "./catalogue.ts";
import { fadedLines, groupLines, linesOf } from "./lines/chart-lines.ts";
import { bucketsFor, axisOf, type PanelView } from "./panel-view.ts";
import { readGroups } from "./lines/read-groups.ts";
import { readJoined } from "./lines/read-joined.ts";
import { readLines } from "./lines/read-lines.ts";

export interface ChartLines {
  /** Undefined until the first answer. */
  lines: readonly Line[] | undefined;
  error: unknown;
  /** Labels were merged because there would be too many lines. */
  tooMany: boolean;
  retry(): void;
}

const LINES_MAX = 300;

/**
 * The lines of a chart. Everything is read once at the resolution of the chart; a zoomed part is read again at its own
 * resolution, and drawn from the whole until it is loaded.
 */
export function useChartLines(entry: KeyEntry, view: PanelView): ChartLines {
  const { grouping } = view;
  const runs = useRunLines(entry, view, grouping === undefined);
  const groups = useGroupLines(entry, view);
  return grouping === undefined ? runs : groups;
}

function useRunLines(entry: KeyEntry, view: PanelView, enabled: boolean): ChartLines {
  const { key, hasLabels, seriesCount } = entry;
  const { runIds, xKind, xKey, range, chartWidth, startsUs, runs, labels, baseline, dark } = view;
  const wanted = labels === "heat" ? undefined : labels;
  const tooMany = wanted === undefined && hasLabels && seriesCount > LINES_MAX;
  const reduction: Reduction | undefined = wanted ?? (tooMany ? "mean" : undefined);
  const lineCount = Math.max(seriesCount, runIds.length);
  const buckets = bucketsFor(chartWidth, lineCount);
  const request = { key, runIds, hasLabels, xKind, buckets, startsUs };
  const isReady = enabled && view.isReady;
  // The key along x is where the live charts look for it.
  const question = ["chart", key, xKind, xKey, runIds, hasLabels, buckets] as const;
  const whole = useQuery({
    queryKey: question,
    queryFn: ({ signal }) =>
      xKey === undefined
        ? readLines({ ...request, range: undefined }, signal)
        : readJoined({ key, xKey, runIds, seriesCount: lineCount }, signal),
    // Other runs or another width: the old lines stay until the new ones are loaded.
    placeholderData: (last, query) =>
      query?.queryKey[2] === xKind && query.queryKey[3] === xKey ? last : undefined,
    enabled: isReady,
  });
  const part = useQuery({
    queryKey: [...question, range],
    queryFn: ({ signal }) => readLines({ ...request, range }, signal),
    // A range of another metric is not a range of steps, so only the whole is read.
    enabled: isReady && range !== undefined && xKey === undefined,
  });
  const replaced = useQuery({
    queryKey: [...question, range, "replaced"],
    queryFn: ({ signal }) => readLines({ ...request, range, onlyReplaced: true }, signal),
    enabled: isReady && view.rewound && !(labels === "heat" && hasLabels) && xKey === undefined,
  });
  const inPart = range === undefined || xKey !== undefined ? undefined : part.data;
  const behind = view.rewound ? replaced.data : undefined;
  const lines = useMemo(() => {
    if (whole.data === undefined) return undefined;
    const options = { labels: reduction, baseline, dark };
    const shown =
      inPart === undefined
        ? linesOf(whole.data, runs, options)
        : linesOf(inPart, runs, { ...options, whole: whole.data });
    return behind === undefined ? shown : [...shown, ...fadedLines(behind, runs, options)];
  }, [whole.data, inPart, behind, runs, reduction, baseline, dark]);
  const retry = (): void => {
    for (const each of [whole, part, replaced]) if (each.isError) void each.refetch();
  };
  return { lines, error: whole.error ?? part.error ?? replaced.error, tooMany, retry };
}

function useGroupLines(entry: KeyEntry, view: PanelView): ChartLines {
  const { grouping, groups, chartWidth, startsUs } = view;
  const { xKind, range } = axisOf(view);
  const asked = groups.map(({ name, runIds }) => ({ name, runIds }));
  const buckets = bucketsFor(chartWidth / 2, asked.length);
  const read = useQuery({
    queryKey: ["chart", entry.key, xKind, undefined, asked, grouping, buckets, range],
    queryFn: ({ signal }) =>
      readGroups(
        { key: entry.key, groups: asked, grouping: grouping!, xKind, range, buckets, startsUs },
        signal,
      ),
    placeholderData: (last, query) => (query?.queryKey[2] === xKind ? last : undefined),
    enabled: grouping !== undefined && view.isReady,
  });
  const lines = useMemo(
    () => (read.data === undefined ? undefined : groupLines(read.data, groups)),
    [read.data, groups],
  );
  return { lines, error: read.error, tooMany: false, retry: () => void read.refetch() };
}
