import type { ServiceImpl } from "@connectrpc/connect";
import type { ArtifactService } from "#proto/cairn/v1/artifact_pb.ts";
import { callerOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { fromArtifact, toArtifactRecord, toKind, toStep } from "../map/artifact.ts";
import { toInteger } from "../map/map.ts";
import { fromRun, toRunRef } from "../map/run.ts";

export function artifactService({ artifacts, models }: ConnectCore): ServiceImpl<typeof ArtifactService> {
  return {
    recordArtifact: async ({ run, artifact }, context) =>
      fromArtifact(await artifacts.record(callerOf(context), toRunRef(run), toArtifactRecord(artifact))),
    getArtifact: async ({ run, name, step }, context) =>
      fromArtifact(await artifacts.get(callerOf(context), { run: toRunRef(run), name, step: toStep(step) })),
    listArtifacts: async (request, context) => {
      if (request.replaced) {
        const { prefix, pageSize, pageToken } = request;
        const asked = { run: toRunRef(request.run), prefix, pageSize, pageToken };
        const kept = await artifacts.replaced.list(callerOf(context), asked);
        return { artifacts: kept.artifacts.map(fromArtifact), nextPageToken: kept.nextPageToken };
      }
      const listed = await artifacts.list(callerOf(context), {
        run: toRunRef(request.run),
        prefix: request.prefix,
        kind: toKind(request.kind),
        fromStep: toStep(request.fromStep),
        toStep: toStep(request.toStep),
        pageSize: request.pageSize,
        pageToken: request.pageToken,
      });
      return { artifacts: listed.artifacts.map(fromArtifact), nextPageToken: listed.nextPageToken };
    },
    searchModels: async ({ query, namespace, pageSize, pageToken }, context) => {
      const found = await models.search(callerOf(context), { query, namespace, pageSize, pageToken });
      return {
        models: found.models.map(({ artifact, run }) => ({
          artifact: fromArtifact(artifact),
          run: fromRun(run),
        })),
        nextPageToken: found.nextPageToken,
        totalCount: BigInt(found.totalCount),
      };
    },
    deleteArtifact: async ({ run, name, step }, context) => {
      const asked = { run: toRunRef(run), name, step: toStep(step) };
      return { deletedCount: BigInt(await artifacts.delete(callerOf(context), asked)) };
    },
    restoreArtifact: async ({ run, name, version }, context) => {
      const asked = { run: toRunRef(run), name, version: toInteger(version, "version of an artifact") };
      return fromArtifact(await artifacts.replaced.restore(callerOf(context), asked));
    },
    purgeArtifacts: async ({ run, name }, context) => {
      const purged = await artifacts.replaced.purge(callerOf(context), { run: toRunRef(run), name });
      return { purgedCount: BigInt(purged) };
    },
  };
}
