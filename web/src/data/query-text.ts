/** Text as the query language takes it. */
export function quoteText(text: string): string {
  return JSON.stringify(text);
}

/** Text as a part of a `like` pattern that means itself. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

export type MetricStat = "last" | "first" | "min" | "max" | "mean" | "count";

/** A metric in a query; the key is quoted, so that it may be anything. */
export function metricField(key: string, stat: MetricStat): string {
  return `metrics.${quoteText(key)}.${stat}`;
}
