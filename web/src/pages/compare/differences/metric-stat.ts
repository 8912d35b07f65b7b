import { seriesName } from "#lang/metric-key.ts";
import type { ComparedMetric } from "#proto/cairn/v1/explore_pb.ts";

/** Which number of a series is shown. "best" depends on its direction, and is the last without one. */
export const METRIC_STATS = ["best", "last", "min", "max", "mean"] as const;
export type MetricStat = (typeof METRIC_STATS)[number];

/** With its labels. */
export function metricName({ key, labels }: ComparedMetric): string {
  return seriesName(key, Object.entries(labels));
}
