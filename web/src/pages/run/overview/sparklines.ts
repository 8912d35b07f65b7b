import { queryOptions } from "@tanstack/react-query";
import { Form, SeriesKind, type SeriesData, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { doublesOf, valuesOf } from "#sdk/series.ts";
import { sparklinePath } from "../../../charts/paint/sparkline.ts";
import { cairn } from "../../../data/server.ts";

export const SPARK_WIDTH = 88;
export const SPARK_HEIGHT = 20;
const BUCKETS = SPARK_WIDTH;

/** One name for a key with its labels. */
export function seriesName({ key, labels }: Pick<SeriesInfo, "key" | "labels">): string {
  return JSON.stringify([key, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Sparklines of some series of a run, by name, read in one call. */
export const sparklines = (runId: string, series: readonly SeriesInfo[]) => {
  const drawn = series.filter(({ kind, summary }) => kind !== SeriesKind.TEXT && (summary?.count ?? 0n) > 1n);
  return queryOptions({
    queryKey: ["run", runId, "sparklines", drawn.map(seriesName)],
    enabled: drawn.length > 0,
    queryFn: async ({ signal }) => {
      const selectors = drawn.map(({ key, labels }) => ({ run: { id: runId }, key, labels }));
      const answer = await cairn.metrics.readSeries({ series: selectors, buckets: BUCKETS }, { signal });
      return new Map(answer.series.map((data) => [seriesName(data), pathOf(data)]));
    },
  });
};

function pathOf(data: SeriesData): string {
  if (data.form !== Form.BAND) return sparklinePath(valuesOf(data), SPARK_WIDTH, SPARK_HEIGHT);
  const low = doublesOf(data.min);
  const high = doublesOf(data.max);
  const bucket = doublesOf(data.bucket);
  // Both ends of every bucket, so that a single spike is visible.
  const x = Float64Array.from({ length: bucket.length * 2 }, (_, i) => bucket[i >> 1]!);
  const y = Float64Array.from({ length: bucket.length * 2 }, (_, i) => (i % 2 === 0 ? low : high)[i >> 1]!);
  return sparklinePath(y, SPARK_WIDTH, SPARK_HEIGHT, x);
}
