import { Axis, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { labelsText } from "#sdk/series.ts";
import { cairn } from "../../../data/server.ts";
import { joinBySteps } from "./join-by-step.ts";
import type { ReadPoints } from "./read-lines.ts";

export interface JoinedRequest {
  readonly key: string;
  /** The metric along the x axis. */
  readonly xKey: string;
  readonly runIds: readonly string[];
  readonly seriesCount: number;
}

/** Points of all series of one chart that are joined one by one; longer series are joined by buckets. */
const POINTS_TOTAL_MAX = 400_000;
const BUCKETS_MIN = 500;
const BUCKETS_MAX = 20_000;

/**
 * One metric over another, of all runs in one call. The partner of a label set is the same one of the other metric, or
 * the one without labels.
 */
export async function readJoined(request: JoinedRequest, signal: AbortSignal): Promise<ReadPoints[]> {
  const { key, xKey, runIds, seriesCount } = request;
  const fair = Math.floor(POINTS_TOTAL_MAX / Math.max(1, 2 * seriesCount));
  const keys = key === xKey ? [key] : [key, xKey];
  const answer = await cairn.metrics.readSeries(
    {
      series: runIds.flatMap((id) => keys.map((each) => ({ run: { id }, key: each, allLabels: true }))),
      axis: Axis.STEP,
      buckets: Math.max(BUCKETS_MIN, Math.min(BUCKETS_MAX, fair)),
    },
    { signal },
  );
  const others = new Map<string, SeriesData>();
  for (const data of answer.series) {
    if (data.key === xKey) others.set(`${data.runId} ${labelsText(data.labels)}`, data);
  }
  return answer.series
    .filter((data) => data.key === key)
    .map((data) => {
      const label = labelsText(data.labels);
      const other = others.get(`${data.runId} ${label}`) ?? others.get(`${data.runId} `);
      return { runId: data.runId, label, points: joinBySteps(data, other, answer) };
    });
}
