import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Line } from "../../../charts/lines/line.ts";
import { valueRange } from "../../../charts/lines/range.ts";
import { linesOf, type ChartRun } from "../../../panels/charts/lines/chart-lines.ts";
import { readLines } from "../../../panels/charts/lines/read-lines.ts";

const BUCKETS = 240;

export interface CellCurves {
  readonly lines: readonly Line[] | undefined;
  readonly error: unknown;
  retry(): void;
}

export interface CellRuns {
  readonly runs: readonly ChartRun[];
  /** When one of them changed last, which changes its curve. */
  readonly version: string;
}

/** The curves of every cell, and the range of values that all of them share. */
export function useCellCurves(
  key: string | undefined,
  cells: readonly CellRuns[],
  dark: boolean,
): { curves: readonly CellCurves[]; range: readonly [number, number] | undefined } {
  const read = useQueries({
    queries: cells.map(({ runs, version }) => {
      const runIds = runs.map(({ id }) => id).toSorted();
      return {
        queryKey: ["facet-curves", key, runIds, version],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          readLines(
            {
              key: key!,
              runIds,
              hasLabels: true,
              xKind: "step",
              range: undefined,
              buckets: BUCKETS,
              startsUs: new Map(),
            },
            signal,
          ),
        enabled: key !== undefined && runIds.length > 0,
        placeholderData: keepPreviousData,
      };
    }),
  });
  const stamp = read
    .map(({ dataUpdatedAt, isPlaceholderData }) => `${dataUpdatedAt} ${isPlaceholderData}`)
    .join();
  const lines = useMemo(
    () =>
      cells.map(({ runs }, i) => {
        const points = read[i]!.data;
        return points && linesOf(points, runs, { labels: "mean", baseline: undefined, dark });
      }),
    // The stamp identifies what was read.
    [cells, dark, stamp],
  );
  const range = useMemo(() => {
    const all = valueRange(
      lines.flatMap((each) => each ?? []),
      { from: -Infinity, to: Infinity, log: false, clip: true },
    );
    return all && ([all.from, all.to] as const);
  }, [lines]);
  return {
    curves: read.map((each, i) => ({ lines: lines[i], error: each.error, retry: () => void each.refetch() })),
    range,
  };
}
