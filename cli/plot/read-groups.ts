import { Axis, Encoding, type GroupData } from "#proto/cairn/v1/metric_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import type { Extent, Line } from "./line.ts";
import { bucketCentre, numbers, spanOf, type Range } from "./read-lines.ts";

export const BANDS = ["std", "stderr", "range", "none"] as const;
export type Band = (typeof BANDS)[number];

/** The runs to group, and the fields to group by. */
export interface Grouping {
  query: string;
  namespace: string;
  groupBy: readonly string[];
}

export interface ReadGroup {
  name: string;
  values: readonly string[];
  runIds: readonly string[];
  pointCount: number;
  x: readonly number[];
  span?: Extent;
  count: readonly number[];
  mean: readonly number[];
  median: readonly number[];
  std: readonly number[];
  stderr: readonly number[];
  min: readonly number[];
  max: readonly number[];
}

/** One metric over groups of runs. Every number comes from all points. */
export async function readGroups(
  server: Cairn,
  grouping: Grouping,
  key: string,
  range: Range,
  buckets: number,
): Promise<ReadGroup[]> {
  const answer = await server.metrics.readGroups({
    query: grouping.query,
    namespace: grouping.namespace,
    groupBy: [...grouping.groupBy],
    key,
    axis: range.axis === "step" ? Axis.STEP : Axis.TIME,
    ...(range.from !== undefined && { from: range.from }),
    ...(range.to !== undefined && { to: range.to }),
    buckets,
    encoding: Encoding.NUMBERS,
  });
  return answer.groups.map((group) => toGroup(group, answer.gridStart, answer.gridWidth));
}

function toGroup(group: GroupData, gridStart: number, gridWidth: number): ReadGroup {
  const buckets = numbers(group.bucket);
  return {
    name: group.name,
    values: group.values,
    runIds: group.runIds,
    pointCount: Number(group.pointCount),
    ...spanOf(buckets, gridStart, gridWidth),
    x: buckets.map((bucket) => bucketCentre(bucket, gridStart, gridWidth)),
    count: numbers(group.count),
    mean: numbers(group.mean),
    median: numbers(group.median),
    std: numbers(group.std),
    stderr: numbers(group.stderr),
    min: numbers(group.min),
    max: numbers(group.max),
  };
}

/** The mean of each group with a band around it. A group without points has no line. */
export function groupLines(groups: readonly ReadGroup[], band: Band): Line[] {
  return groups
    .filter(({ x }) => x.length > 0)
    .map((group) => {
      const { x, mean, count, span } = group;
      return {
        name: printable(group.name === "" ? "all runs" : group.name),
        marks: { x, low: mean, high: mean, first: mean, last: mean, mean, count, ...(span && { span }) },
        form: `mean ${words[band]}of ${countOf(group.runIds.length, "run")}, ${countOf(group.pointCount, "point")}`,
        missing: "",
        band: band === "none" ? { low: mean, high: mean } : bandOf(group, band),
      };
    });
}

const words: Readonly<Record<Band, string>> = {
  std: "± std ",
  stderr: "± stderr ",
  range: "and range ",
  none: "",
};

/** Of a single run there is no deviation: its band is the mean itself. */
function bandOf(group: ReadGroup, band: Exclude<Band, "none">): NonNullable<Line["band"]> {
  if (band === "range") return { low: group.min, high: group.max };
  const spread = group[band].map((value) => (Number.isNaN(value) ? 0 : value));
  return {
    low: group.mean.map((mean, i) => mean - spread[i]!),
    high: group.mean.map((mean, i) => mean + spread[i]!),
  };
}
