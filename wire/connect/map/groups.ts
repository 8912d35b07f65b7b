import { create } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import { requireLabels } from "#core/types/check.ts";
import type { GroupRequest, GroupResult } from "#core/series/groups.ts";
import type { AnswerForm } from "#core/series/read-budget.ts";
import {
  Axis,
  GroupDataSchema,
  ReadGroupsResponseSchema,
  type Encoding,
  type ReadGroupsRequest,
  type ReadGroupsResponse,
} from "#proto/cairn/v1/metric_pb.ts";
import { toInteger } from "./map.ts";
import { toRunRef } from "./run.ts";
import { columnsAs } from "./series.ts";

export function toGroupRequest(request: ReadGroupsRequest, form: AnswerForm): GroupRequest {
  const labels = requireLabels(Object.entries(request.labels), request.key);
  if (labels.length > 0 && !request.onlyLabels) {
    throw new CairnError("invalid", "cannot choose labels and take all label sets together", {
      hint: "set only_labels, or leave the labels out",
    });
  }
  return {
    groups: request.groups.map(({ name, runs, startsUs }) => ({
      name,
      runs: runs.map((run) => toRunRef(run)),
      startsUs: startsUs.map((each) => toInteger(each, "starts_us")),
    })),
    query: request.query,
    namespace: request.namespace,
    groupBy: request.groupBy,
    key: request.key,
    labels: request.onlyLabels ? labels : undefined,
    axis: request.axis === Axis.TIME ? "time" : "step",
    from: request.from === undefined ? undefined : toInteger(request.from, "from"),
    to: request.to === undefined ? undefined : toInteger(request.to, "to"),
    buckets: request.buckets,
    quantiles: request.quantiles,
    form,
  };
}

export function fromGroupResult({ groups, grid }: GroupResult, encoding: Encoding): ReadGroupsResponse {
  const column = columnsAs(encoding);
  return create(ReadGroupsResponseSchema, {
    groups: groups.map((group) =>
      create(GroupDataSchema, {
        name: group.name,
        values: group.values,
        runIds: group.runIds,
        pointCount: BigInt(group.pointCount),
        bucket: column(group.bucket),
        count: column(group.count),
        mean: column(group.mean),
        median: column(group.median),
        std: column(group.std),
        stderr: column(group.stderr),
        min: column(group.min),
        max: column(group.max),
        quantiles: group.quantiles.map(column),
      }),
    ),
    gridStart: grid?.start ?? 0,
    gridWidth: grid?.width ?? 0,
  });
}
