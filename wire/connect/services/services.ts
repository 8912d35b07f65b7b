import { toBinary } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { CairnError } from "#lang/errors.ts";
import { ArtifactService } from "#proto/cairn/v1/artifact_pb.ts";
import { ExploreService } from "#proto/cairn/v1/explore_pb.ts";
import { LineageService } from "#proto/cairn/v1/lineage_pb.ts";
import { LogService } from "#proto/cairn/v1/log_pb.ts";
import {
  EnvelopeSchema,
  MetricService,
  WriteEnvelopesRequestSchema,
  type Envelope,
  type EnvelopeAck,
} from "#proto/cairn/v1/metric_pb.ts";
import { AccessService } from "#proto/cairn/v1/access_pb.ts";
import { NamespaceService } from "#proto/cairn/v1/namespace_pb.ts";
import { RunService } from "#proto/cairn/v1/run_pb.ts";
import { SystemService } from "#proto/cairn/v1/system_pb.ts";
import { WatchService } from "#proto/cairn/v1/watch_pb.ts";
import { answerForm } from "../answer/answer-form.ts";
import { callerOf, heavyOf, receivedKey, receivedManyKey } from "../context.ts";
import type { ConnectCore, ConnectOptions } from "../core.ts";
import { decodeEnvelope } from "../decode/envelope.ts";
import { decodeEnvelopes } from "../decode/envelopes.ts";
import { interruptible } from "#base/interruptible.ts";
import { accessService } from "./access.ts";
import { fromAck, fromOutcomes } from "../map/ack.ts";
import { fromBackup, fromIntegrity, fromInfo, fromVerified } from "../map/system.ts";
import { fromGroupResult, toGroupRequest } from "../map/groups.ts";
import {
  fromForbidden,
  fromHeld,
  fromKey,
  fromNamespace,
  toKey,
  toNamespaceRef,
  toObjective,
} from "../map/namespace.ts";
import { toMap } from "../map/map.ts";
import { fromFound, fromRun, toNewRun, toRunChange, toRunRef, toSearchRuns } from "../map/run.ts";
import { fromReadResult, toReadRequest } from "../map/series.ts";
import { artifactService } from "./artifacts.ts";
import { exploreService } from "./explore.ts";
import { lineageService } from "./lineage.ts";
import { logService } from "./logs.ts";
import { seriesMethods } from "./series.ts";
import { watchService } from "./watch.ts";

export const SERVICES = [
  AccessService,
  NamespaceService,
  RunService,
  MetricService,
  ArtifactService,
  LineageService,
  LogService,
  WatchService,
  ExploreService,
  SystemService,
] as const;

/** Registers cairn.v1: each method maps its request, calls core, and maps the answer. */
export function registerServices(router: ConnectRouter, options: ConnectOptions): void {
  const { core } = options;
  router.service(AccessService, accessService(core));
  router.service(NamespaceService, namespaceService(core));
  router.service(RunService, runService(core));
  router.service(MetricService, metricService(options));
  router.service(ArtifactService, artifactService(core));
  router.service(LineageService, lineageService(core));
  router.service(LogService, logService(core));
  router.service(WatchService, watchService(core));
  router.service(ExploreService, exploreService(core));
  router.service(SystemService, systemService(core));
}

function namespaceService({
  namespaces,
  namespaceMoves,
  namespaceTrash,
  objectives,
}: ConnectCore): ServiceImpl<typeof NamespaceService> {
  return {
    createNamespace: async ({ path, description, objective, tags }, context) =>
      fromNamespace(
        await namespaces.create(callerOf(context), {
          path,
          description,
          objective: toObjective(objective),
          tags: toMap(tags),
        }),
      ),
    getNamespace: async ({ path, id, withBest }, context) =>
      fromNamespace(await namespaces.get(callerOf(context), toNamespaceRef(path, id), { withBest })),
    listNamespaces: async ({ under, pageSize, pageToken, withBest, trashed }, context) => {
      const asked = { under, pageSize, pageToken, withBest, trashed };
      const page = await namespaces.list(callerOf(context), asked);
      return { namespaces: page.namespaces.map(fromNamespace), nextPageToken: page.nextPageToken };
    },
    listObjectives: async ({ namespaces: paths }, context) => {
      const held = await objectives.list(callerOf(context), paths);
      return { objectives: Object.fromEntries(Array.from(held, ([path, one]) => [path, fromHeld(one)])) };
    },
    updateNamespace: async (request, context) => {
      const { path, description, objective, clearObjective, removeTags, forbidConsole, forbidCode } = request;
      const wanted = clearObjective ? null : toObjective(objective);
      const tags = toMap(request.tags);
      const updated = await namespaces.update(callerOf(context), {
        path,
        ...(description !== undefined && { description }),
        ...(wanted !== undefined && { objective: wanted }),
        ...(tags.size > 0 && { tags }),
        ...(removeTags.length > 0 && { removeTags }),
        ...(forbidConsole !== undefined && { forbidsConsole: forbidConsole }),
        ...(forbidCode !== undefined && { forbidsCode: forbidCode }),
      });
      return fromNamespace(updated);
    },
    moveNamespace: async ({ path, to: target }, context) => {
      const { id, from, to } = await namespaceMoves.move(callerOf(context), path, target);
      return { id: BigInt(id), from, path: to };
    },
    deleteNamespace: async ({ path }, context) => {
      await namespaceTrash.delete(callerOf(context), path);
      return {};
    },
    restoreNamespace: async ({ path }, context) => {
      await namespaceTrash.restore(callerOf(context), path);
      return {};
    },
    purgeNamespace: async ({ path }, context) => {
      const {
        runs,
        hosts,
        namespaces: count,
        points,
        done,
      } = await namespaceTrash.purge(callerOf(context), path);
      const purged = {
        purgedRuns: BigInt(runs),
        purgedHosts: BigInt(hosts),
        purgedNamespaces: BigInt(count),
      };
      return { ...purged, purgedPoints: BigInt(points), done };
    },
  };
}

function runService({ runs, runMoves }: ConnectCore): ServiceImpl<typeof RunService> {
  return {
    createRun: async (request, context) => {
      const { run, created, forbidden } = await runs.create(
        callerOf(context),
        toNewRun(request),
        heavyOf(context),
      );
      const forbiddenCapture = fromForbidden(forbidden);
      return { run: fromRun(run), created, ...(forbiddenCapture !== undefined && { forbiddenCapture }) };
    },
    getRun: async ({ run }, context) =>
      fromRun(await runs.get(callerOf(context), toRunRef(run), heavyOf(context))),
    updateRun: async (request, context) =>
      fromRun(
        await runs.update(callerOf(context), toRunRef(request.run), toRunChange(request), heavyOf(context)),
      ),
    searchRuns: async (request, context) =>
      fromFound(await runs.search(callerOf(context), toSearchRuns(request))),
    deleteRun: async ({ run }, context) =>
      fromRun(await runs.delete(callerOf(context), toRunRef(run), heavyOf(context))),
    restoreRun: async ({ run }, context) =>
      fromRun(await runs.restore(callerOf(context), toRunRef(run), heavyOf(context))),
    moveRun: async ({ run, namespace }, context) => {
      const { id, from, to } = await runMoves.move(callerOf(context), toRunRef(run), namespace);
      return { runId: id, from, namespace: to };
    },
    purgeRun: async ({ run }, context) => {
      const { points } = await runs.purge(callerOf(context), toRunRef(run));
      return { purgedPoints: BigInt(points) };
    },
  };
}

type WriteMethod = "writeEnvelope" | "writeEnvelopes" | "streamEnvelopes";

function writeMethods({
  core: { ingest },
  stopping,
  onFailure,
}: ConnectOptions): Pick<ServiceImpl<typeof MetricService>, WriteMethod> {
  const write = async (envelope: Envelope, context: Parameters<typeof callerOf>[0]): Promise<EnvelopeAck> => {
    // Binary requests have been decoded; JSON is converted to binary first.
    const decoded =
      context.values.get(receivedKey).shift() ?? decodeEnvelope(toBinary(EnvelopeSchema, envelope));
    const ack = await ingest.write(callerOf(context), decoded);
    return fromAck(ack);
  };
  return {
    writeEnvelope: write,
    writeEnvelopes: async (request, context) => {
      const decoded =
        context.values.get(receivedManyKey) ??
        decodeEnvelopes(toBinary(WriteEnvelopesRequestSchema, request));
      return fromOutcomes(await ingest.writeAll(callerOf(context), decoded), onFailure);
    },
    async *streamEnvelopes(envelopes, context) {
      for await (const envelope of untilStopping(envelopes, stopping)) yield await write(envelope, context);
    },
  };
}

function metricService(options: ConnectOptions): ServiceImpl<typeof MetricService> {
  const { metrics, metricKeys, groups } = options.core;
  return {
    ...writeMethods(options),
    describeKey: async ({ description, onlyIfAbsent }, context) => {
      if (description === undefined)
        throw new CairnError("invalid", "cannot describe a key without a description");
      return fromKey(await metricKeys.describe(callerOf(context), toKey(description), { onlyIfAbsent }));
    },
    listKeys: async ({ namespace, pageSize, pageToken }, context) => {
      const asked = { namespace, pageSize, pageToken };
      const { keys, nextPageToken } = await metricKeys.list(callerOf(context), asked);
      return { keys: keys.map(fromKey), nextPageToken };
    },
    ...seriesMethods(metrics),
    listRunKeys: async (request, context) => {
      const { keys, runs, truncated } = await metrics.listRunKeys(
        callerOf(context),
        request.runs.map(toRunRef),
        request.seriesPerRun,
      );
      return {
        keys: keys.map(({ key, seriesCount, hasLabels, hasNumbers, runCount, replacedCount }) => ({
          key,
          seriesCount: BigInt(seriesCount),
          hasLabels,
          hasNumbers,
          runCount: BigInt(runCount),
          replacedCount: BigInt(replacedCount),
        })),
        runs: runs.map(({ runId, firstTimeUs }) =>
          firstTimeUs === undefined ? { runId } : { runId, firstTimeUs: BigInt(firstTimeUs) },
        ),
        truncated,
      };
    },
    readSeries: async (request, context) => {
      const asked = toReadRequest(request, answerForm(request.encoding, context));
      return fromReadResult(await metrics.read(callerOf(context), asked), request.encoding);
    },
    readGroups: async (request, context) => {
      const asked = toGroupRequest(request, answerForm(request.encoding, context));
      return fromGroupResult(await groups.read(callerOf(context), asked), request.encoding);
    },
  };
}

/** An idle client must not keep the server from stopping. */
function untilStopping<T>(items: AsyncIterable<T>, stopping: AbortSignal): AsyncGenerator<T> {
  return interruptible(items, (interrupt) => {
    const stop = (): void =>
      interrupt(
        new CairnError("unavailable", "cannot continue: the server is stopping", { reason: "STOPPING" }),
      );
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    return () => stopping.removeEventListener("abort", stop);
  });
}

function systemService({ system }: ConnectCore): ServiceImpl<typeof SystemService> {
  return {
    getInfo: async (_, context) => fromInfo(await system.info(callerOf(context))),
    verifyRun: async ({ run }, context) =>
      fromVerified(await system.verifyRun(callerOf(context), toRunRef(run))),
    createBackup: async ({ name }, context) => fromBackup(await system.createBackup(callerOf(context), name)),
    listBackups: async (_, context) => ({
      backups: (await system.listBackups(callerOf(context))).map(fromBackup),
    }),
    restoreBackup: async ({ name }, context) => {
      const { restored, keptAside } = await system.restoreBackup(callerOf(context), name);
      return { restored: fromBackup(restored), keptAside: fromBackup(keptAside) };
    },
    checkIntegrity: async (_, context) => fromIntegrity(await system.checkIntegrity(callerOf(context))),
  };
}
