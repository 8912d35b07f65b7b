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

/** Quoted text of the query language, or the keyword at which the condition ends. */
const QUOTED_OR_ORDER = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\border\s+by\b/gi;

/** The condition of a query, and what stands behind `order by`; empty where there is none. */
export function splitAtOrder(query: string): { condition: string; order: string } {
  for (const found of query.matchAll(QUOTED_OR_ORDER)) {
    if (!/^o/i.test(found[0])) continue;
    return {
      condition: query.slice(0, found.index).trim(),
      order: query.slice(found.index + found[0].length),
    };
  }
  return { condition: query.trim(), order: "" };
}
