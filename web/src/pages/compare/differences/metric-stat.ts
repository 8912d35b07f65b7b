/** Which number of a series is shown. "best" depends on its direction, and is the last without one. */
export const METRIC_STATS = ["best", "last", "min", "max", "mean"] as const;
export type MetricStat = (typeof METRIC_STATS)[number];
