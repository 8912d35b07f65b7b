import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CairnError, quote } from "#lang/errors.ts";
import { parseRunPath } from "#lang/run-ref.ts";
import { requireFields } from "#core/types/check-provenance.ts";
import type { Run, RunChange } from "#core/types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { RUN_STATUSES, type RunStatus } from "#lang/statuses.ts";
import type { FoundRuns, NewRun, SearchRuns } from "#core/runs/runs.ts";
import {
  RunSchema,
  SearchRunsResponseSchema,
  type CreateRunRequest,
  type Run as RunMessage,
  type RunStatus as StatusMessage,
  type SearchRunsRequest,
  type SearchRunsResponse,
  type UpdateRunRequest,
} from "#proto/cairn/v1/run_pb.ts";
import { fromMap, toInteger, toMap } from "./map.ts";
import { fromProvenance, toProvenance } from "./provenance.ts";

/** 0 is unspecified. */
export function toStatus(status: number): RunStatus | undefined {
  if (status === 0) return undefined;
  const name = RUN_STATUSES[status - 1];
  if (name === undefined) {
    throw new CairnError(
      "invalid",
      `cannot set status ${status}: the statuses are ${RUN_STATUSES.join(", ")}`,
    );
  }
  return name;
}

export function toRunRef(
  ref: { id: string; path: string; alias: string; namespace: string } | undefined,
): RunRef {
  const given = ref === undefined ? [] : [ref.id, ref.path, ref.alias].filter((text) => text !== "");
  if (ref === undefined || given.length !== 1) {
    throw new CairnError("invalid", `cannot find a run by ${given.length} names`, {
      hint: 'give exactly one of id, path and alias, for example {"run": {"id": "…"}}',
    });
  }
  if (ref.namespace !== "" && ref.alias === "") {
    throw new CairnError(
      "invalid",
      `cannot look for ${quote(given[0]!)} in a namespace: only an alias takes one`,
    );
  }
  if (ref.id !== "") return { by: "id", id: ref.id };
  return ref.path === ""
    ? { by: "alias", alias: ref.alias, namespace: ref.namespace }
    : parseRunPath(ref.path);
}

export function toNewRun(request: CreateRunRequest): NewRun {
  return {
    namespace: request.namespace,
    name: request.name,
    aliases: request.aliases,
    params: toMap(request.params),
    tags: toMap(request.tags),
    provenance: toProvenance(request.provenance),
    status: toStatus(request.status),
    notes: request.notes,
    startedUs: request.startedUs === 0n ? undefined : toInteger(request.startedUs, "start time"),
    getOrCreate: request.getOrCreate,
  };
}

export function toRunChange(request: UpdateRunRequest): RunChange {
  const status = toStatus(request.status);
  const provenance = toProvenance(request.provenance);
  const addProvenance = toProvenance(request.addProvenance);
  const params = toMap(request.params);
  const tags = toMap(request.tags);
  return {
    ...(status !== undefined && { status }),
    ...(request.name !== undefined && { name: request.name }),
    ...(request.notes !== undefined && { notes: request.notes }),
    ...(params.size > 0 && { params }),
    ...(tags.size > 0 && { tags }),
    ...(request.removeParams.length > 0 && { removeParams: request.removeParams }),
    ...(request.removeTags.length > 0 && { removeTags: request.removeTags }),
    ...(request.addAliases.length > 0 && { addAliases: request.addAliases }),
    ...(provenance !== undefined && { provenance }),
    ...(request.clearProvenance.length > 0 && { clearProvenance: requireFields(request.clearProvenance) }),
    ...(addProvenance !== undefined && { addProvenance }),
    ...(request.onlyIfAbsent && { onlyIfAbsent: true }),
    ...(request.endedUs !== 0n && { endedUs: toInteger(request.endedUs, "end time") }),
  };
}

export function fromRun(run: Run, metrics: ReadonlyMap<string, number> = new Map()): RunMessage {
  const init: MessageInitShape<typeof RunSchema> = {
    id: run.id,
    namespace: run.namespace,
    name: run.name,
    aliases: [...run.aliases],
    status: (RUN_STATUSES.indexOf(run.status) + 1) as StatusMessage,
    notes: run.notes,
    params: fromMap(run.params),
    tags: fromMap(run.tags),
    createdUs: BigInt(run.createdUs),
    startedUs: BigInt(run.startedUs ?? 0),
    endedUs: BigInt(run.endedUs ?? 0),
    updatedUs: BigInt(run.updatedUs),
    deletedUs: BigInt(run.deletedUs ?? 0),
    metrics: fromMap(metrics),
    lastHeardUs: BigInt(run.lastHeardUs ?? 0),
    heartbeatSeconds: run.heartbeatSeconds ?? 0,
    creator: run.creator,
    endedBy: run.endedBy,
    changedBy: run.changedBy,
    deletedBy: run.deletedBy,
  };
  if (run.provenance !== undefined) init.provenance = fromProvenance(run.provenance);
  return create(RunSchema, init);
}

export function toSearchRuns(request: SearchRunsRequest): SearchRuns {
  return {
    query: request.query,
    namespace: request.namespace,
    trashed: request.trashed,
    pageSize: request.pageSize,
    pageToken: request.pageToken,
    columns: request.columns,
    offset: request.offset,
  };
}

export function fromFound({ runs, nextPageToken, totalCount }: FoundRuns): SearchRunsResponse {
  return create(SearchRunsResponseSchema, {
    runs: runs.map(({ run, metrics }) => fromRun(run, metrics)),
    nextPageToken,
    totalCount: BigInt(totalCount),
  });
}
