import { Axis } from "#proto/cairn/v1/metric_pb.ts";
import { bandOf, groupMarks } from "#sdk/series.ts";
import type { XKind } from "../../../charts/paint/frame.ts";
import type { Points } from "../../../charts/lines/line.ts";
import { cairn } from "../../../data/server.ts";
import { boundsOf } from "./read-lines.ts";
import type { Grouping } from "../search.ts";

export interface ReadGroup {
  readonly name: string;
  readonly points: Points;
}

export interface GroupRequest {
  readonly key: string;
  readonly groups: readonly { name: string; runIds: readonly string[] }[];
  readonly grouping: Grouping;
  readonly xKind: XKind;
  readonly range: readonly [number, number] | undefined;
  readonly buckets: number;
  /** When each run began, for times since then. */
  readonly startsUs: ReadonlyMap<string, number>;
}

/** Statistics over all points of all runs, computed by the server. Groups without the key are left out. */
export async function readGroups(request: GroupRequest, signal: AbortSignal): Promise<ReadGroup[]> {
  const { key, groups, grouping, xKind, range, buckets, startsUs } = request;
  const startOf = (id: string): bigint => BigInt(startsUs.get(id) ?? 0);
  const answer = await cairn.metrics.readGroups(
    {
      key,
      groups: groups.map(({ name, runIds }) => ({
        name,
        runs: runIds.map((id) => ({ id })),
        startsUs: xKind === "relative" ? runIds.map(startOf) : [],
      })),
      axis: xKind === "step" ? Axis.STEP : Axis.TIME,
      buckets,
      ...boundsOf(range, 0),
    },
    { signal },
  );
  return answer.groups.map((data) => {
    const marks = groupMarks(data, answer);
    const points: Points = {
      x: marks.x,
      y: marks[grouping.middle],
      ...bandOf(marks, grouping.middle, grouping.spread),
      exact: false,
      pointCount: Number(data.pointCount),
      unplacedCount: 0,
    };
    return { name: data.name, points };
  });
}
