import { Axis, type GroupData } from "#proto/cairn/v1/metric_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { bandOf, groupMarks, type GroupMarks, type Grid } from "#sdk/series.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import type { Line } from "./line.ts";
import type { Range } from "./read-lines.ts";

export const BANDS = ["std", "stderr", "range", "none"] as const;
export type Band = (typeof BANDS)[number];

/** The runs to group, and the fields to group by. */
export interface Grouping {
  query: string;
  namespace: string;
  groupBy: readonly string[];
}

export interface ReadGroup extends GroupMarks {
  name: string;
  values: readonly string[];
  runIds: readonly string[];
  pointCount: number;
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
  });
  return answer.groups.map((group) => toGroup(group, answer));
}

function toGroup(group: GroupData, grid: Grid): ReadGroup {
  const { name, values, runIds, pointCount } = group;
  return { name, values, runIds, pointCount: Number(pointCount), ...groupMarks(group, grid) };
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
        band:
          band === "none"
            ? { low: mean, high: mean }
            : bandOf(group, "mean", band === "range" ? "minmax" : band),
      };
    });
}

const words: Readonly<Record<Band, string>> = {
  std: "± std ",
  stderr: "± stderr ",
  range: "and range ",
  none: "",
};
