import type { ServiceImpl } from "@connectrpc/connect";
import type { LineageService } from "#proto/cairn/v1/lineage_pb.ts";
import { callerOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromChild, fromGraph, fromSource, toDirection, toGivenSource, toLinkEnd } from "../map/lineage.ts";
import { toRunRef } from "../map/run.ts";

export function lineageService({ lineage }: ConnectCore): ServiceImpl<typeof LineageService> {
  return {
    addSource: async ({ run, source }, context) => {
      const given = toGivenSource(source);
      const added = await lineage.addSource(callerOf(context), toRunRef(run), given);
      return { source: fromSource(added.source), created: added.created };
    },
    removeSource: async ({ run, source }, context) => ({
      removed: await lineage.removeSource(callerOf(context), toRunRef(run), toGivenSource(source)),
    }),
    listSources: async ({ run, artifact, pageSize, pageToken, withRoles }, context) => {
      const page = { artifact, pageSize, pageToken, withRoles };
      const { sources, nextPageToken } = await lineage.listSources(callerOf(context), toRunRef(run), page);
      return { sources: sources.map(fromSource), nextPageToken };
    },
    listChildren: async ({ run, externalId, artifact, pageSize, pageToken, withRoles }, context) => {
      const page = { artifact, pageSize, pageToken, withRoles };
      const of = toLinkEnd(run, externalId, "external_id");
      const { children, nextPageToken } = await lineage.listChildren(callerOf(context), of, page);
      return { children: children.map(fromChild), nextPageToken };
    },
    getLineage: async ({ run, direction, depth }, context) =>
      fromGraph(
        await lineage.get(callerOf(context), {
          run: toRunRef(run),
          direction: toDirection(direction),
          depth,
        }),
      ),
  };
}
