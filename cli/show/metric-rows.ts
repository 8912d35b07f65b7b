import { SeriesKind, type SeriesData, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { MatchOp, type Sample } from "#proto/cairn/v1/series_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { eachPage } from "#sdk/pages.ts";
import { inParallel } from "#base/in-parallel.ts";
import { limits } from "#lang/limits.ts";
import { isSystemMetric, seriesName } from "#lang/metric-key.ts";
import { formatCount, formatNumber } from "#lang/words/numbers.ts";
import { cut, printable } from "../output/text.ts";
import { wordOf } from "#lang/words/enums.ts";
import { sparkline, sparkValues } from "./sparkline.ts";

/** A run may have a million series; a document of all of them would not fit into memory. */
const SERIES_MAX = 100_000;
export const SPARKLINES_MAX = 500;
const AT_ONCE = 8;

export interface RunSeries {
  /** The objective comes first, then metrics by key, system metrics last. */
  series: SeriesInfo[];
  /** All that match, of which `series` may be the beginning. */
  totalCount: number;
}

/** Series of a run, those that match `glob`, or all of them for "". */
export async function listRunSeries(
  server: Cairn,
  runId: string,
  glob: string,
  first: string | undefined,
): Promise<RunSeries> {
  const request = { run: { id: runId }, glob, pageSize: limits.pageSizeMax };
  let series: SeriesInfo[] = [];
  let totalCount = 0;
  for await (const page of eachPage((pageToken) => server.metrics.listSeries({ ...request, pageToken }))) {
    series.push(...page.series);
    totalCount = Number(page.totalCount);
    if (series.length >= SERIES_MAX) break;
  }
  if (series.length < totalCount && glob === "" && first !== undefined) {
    const matchers = [{ op: MatchOp.EQUAL, value: first }];
    const objective = await server.metrics.listSeries({ ...request, matchers });
    series = [...objective.series, ...series.filter(({ key }) => key !== first)];
  }
  const rank = ({ key, labels }: SeriesInfo) =>
    (key === first ? 0 : isSystemMetric(key) ? 4 : 2) + (Object.keys(labels).length === 0 ? 0 : 1);
  const sorted = series
    .map((info, i) => ({ info, i }))
    .sort((a, b) => rank(a.info) - rank(b.info) || a.i - b.i)
    .map(({ info }) => info);
  return { series: sorted, totalCount };
}

/** `loss` or `loss{rank=3}`, printable. */
export function printableName({ key, labels }: Pick<SeriesInfo, "key" | "labels">): string {
  return printable(seriesName(key, Object.entries(labels)));
}

/** last, min, at, max, at, count. */
export function metricCells({ kind, summary }: SeriesInfo): string[] {
  const at = (sample: Sample | undefined) => (sample?.step === undefined ? "" : `@${sample.step}`);
  const isText = kind === SeriesKind.TEXT;
  const min = isText ? undefined : summary?.min;
  const max = isText ? undefined : summary?.max;
  const nan = summary !== undefined && summary.nanCount > 0n ? ` (${formatCount(summary.nanCount)} NaN)` : "";
  return [
    sampleText(summary?.last, kind),
    sampleText(min, kind),
    at(min),
    sampleText(max, kind),
    at(max),
    `${formatCount(summary?.count ?? 0n)}${nan}`,
  ];
}

/** Series of one key under different labels, as one row: the last values as a range. */
export function groupCells(group: readonly SeriesInfo[]): string[] {
  const lasts = group
    .map(({ summary }) => summary?.last?.value ?? NaN)
    .filter((value) => !Number.isNaN(value));
  const least = extreme(group, "min", (a, b) => a < b);
  const most = extreme(group, "max", (a, b) => a > b);
  const range = [Math.min(...lasts), Math.max(...lasts)].map((value) => formatNumber(value));
  const count = group.reduce((sum, { summary }) => sum + (summary?.count ?? 0n), 0n);
  const at = (sample: Sample | undefined) => (sample?.step === undefined ? "" : `@${sample.step}`);
  return [
    lasts.length === 0 ? "" : range[0] === range[1] ? range[0]! : range.join("…"),
    sampleText(least, SeriesKind.NUMBER),
    at(least),
    sampleText(most, SeriesKind.NUMBER),
    at(most),
    formatCount(count),
  ];
}

function extreme(
  group: readonly SeriesInfo[],
  stat: "min" | "max",
  isBeyond: (a: number, b: number) => boolean,
): Sample | undefined {
  let found: Sample | undefined;
  for (const { summary } of group) {
    const sample = summary?.[stat];
    if (sample !== undefined && (found === undefined || isBeyond(sample.value, found.value))) found = sample;
  }
  return found;
}

/** Label sets of a key together, where it has several numbers; in the order of the first of each. */
export function groupByKey(series: readonly SeriesInfo[]): SeriesInfo[][] {
  const groups = new Map<string, SeriesInfo[]>();
  for (const info of series) {
    const isAlone = Object.keys(info.labels).length === 0 || info.kind !== SeriesKind.NUMBER;
    const id = isAlone ? `=${printableName(info)}` : `*${info.key}`;
    groups.set(id, [...(groups.get(id) ?? []), info]);
  }
  return [...groups.values()];
}

function sampleText(sample: Sample | undefined, kind: SeriesKind): string {
  if (sample === undefined) return "";
  if (kind === SeriesKind.TEXT) return printable(cut(sample.text, 24));
  if (kind === SeriesKind.INTEGER) return String(sample.integer);
  if (kind === SeriesKind.BOOL) return sample.value === 0 ? "false" : "true";
  return formatNumber(sample.value);
}

/** A sparkline per series, from all of its points; none where there is no series of numbers. */
export async function readSparklines(
  server: Cairn,
  runId: string,
  series: readonly (SeriesInfo | undefined)[],
  width: number,
): Promise<string[]> {
  const numeric = series.filter(
    (info) => info !== undefined && info.kind !== SeriesKind.TEXT,
  ) as SeriesInfo[];
  if (numeric.length === 0) return series.map(() => "");
  const answers = new Map<string, SeriesData>();
  // One by one: buckets are shared by all series of an answer, and steps may be of quite different length.
  await inParallel(numeric.slice(0, SPARKLINES_MAX), AT_ONCE, async ({ key, labels }) => {
    const { series: found } = await server.metrics.readSeries({
      series: [{ run: { id: runId }, key, labels }],
      buckets: width,
    });
    if (found[0] !== undefined) answers.set(printableName({ key, labels }), found[0]);
  });
  return series.map((info) => {
    const data = info && answers.get(printableName(info));
    return data === undefined ? "" : sparkline(sparkValues(data, width));
  });
}

export function jsonSeries({ key, labels, kind, summary }: SeriesInfo): Record<string, unknown> {
  const sample = (one: Sample | undefined) =>
    one && {
      step: one.step,
      value: kind === SeriesKind.TEXT ? one.text : kind === SeriesKind.INTEGER ? one.integer : one.value,
    };
  return {
    key,
    labels,
    kind: wordOf(SeriesKind, kind),
    count: summary?.count ?? 0n,
    nanCount: summary?.nanCount ?? 0n,
    replacedCount: summary?.replacedCount ?? 0n,
    first: sample(summary?.first),
    last: sample(summary?.last),
    min: sample(summary?.min),
    max: sample(summary?.max),
    mean: summary?.mean,
  };
}
