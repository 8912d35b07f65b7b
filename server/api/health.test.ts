import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "#proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { startServer, TWO_WAYS, useWays, WAYS } from "../testing/servers.ts";

/** Reflection needs both sides to stream. */
const DUPLEX = WAYS.filter(({ server, duplex }) => server === "fast" && duplex);
const open = useWays();

async function* each<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}

describe.each(TWO_WAYS)("$name", (way) => {
  it("W7 health reports for the server and each service whether it serves", async () => {
    const client = createClient(Health, way.transport(open(way).url));
    for (const service of ["", "cairn.v1.RunService", "cairn.v1.MetricService"]) {
      expect((await client.check({ service })).status).toBe(Serving.SERVING);
    }
    expect(await errorOf(client.check({ service: "cairn.v1.Nothing" }))).toMatchObject({ code: "NotFound" });
    const stop = new AbortController();
    const watched = client.watch({ service: "" }, { signal: stop.signal })[Symbol.asyncIterator]();
    expect((await watched.next()).value).toMatchObject({ status: Serving.SERVING });
    stop.abort();
    await expect(watched.next()).rejects.toMatchObject({ code: Code.Canceled });
  });
});

describe.each(DUPLEX)("$name", (way) => {
  it("W7 reflection lists what the server has, in both versions", async () => {
    const transport = way.transport(open(way).url);
    const expected = [
      "cairn.v1.AccessService",
      "cairn.v1.ArtifactService",
      "cairn.v1.ExploreService",
      "cairn.v1.LineageService",
      "cairn.v1.LogService",
      "cairn.v1.MetricService",
      "cairn.v1.NamespaceService",
      "cairn.v1.RunService",
      "cairn.v1.SystemService",
      "cairn.v1.WatchService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ];
    const requests = each(
      { messageRequest: { case: "listServices", value: "" } } as const,
      {
        messageRequest: { case: "fileContainingSymbol", value: "cairn.v1.MetricService.WriteEnvelope" },
      } as const,
      { messageRequest: { case: "fileContainingSymbol", value: "no.Such" } } as const,
    );
    const answers = [];
    for await (const { messageResponse } of createClient(ServerReflection, transport).serverReflectionInfo(
      requests,
    )) {
      answers.push(messageResponse);
    }
    const [services, files, missing] = answers;
    expect(services).toMatchObject({ value: { service: expected.map((name) => ({ name })) } });
    const names =
      files?.case === "fileDescriptorResponse"
        ? files.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
        : [];
    expect(names[0]).toBe("cairn/v1/metric.proto");
    expect(missing).toMatchObject({ case: "errorResponse", value: { errorCode: Code.NotFound } });
    const alpha = createClient(ServerReflectionAlpha, transport);
    for await (const { messageResponse } of alpha.serverReflectionInfo(
      each({ messageRequest: { case: "listServices", value: "" } } as const),
    )) {
      expect(messageResponse).toMatchObject({ value: { service: expected.map((name) => ({ name })) } });
    }
  });
});

it("W7, B2 watchers are notified that the server stops, and the stream ends", async () => {
  const server = await startServer();
  const client = createClient(Health, TWO_WAYS[0]!.transport(server.listening.url));
  const seen: Serving[] = [];
  const first = Promise.withResolvers<void>();
  const watching = (async () => {
    for await (const { status } of client.watch({})) {
      seen.push(status);
      first.resolve();
    }
  })();
  await first.promise;
  await server.close();
  await watching;
  expect(seen).toEqual([Serving.SERVING, Serving.NOT_SERVING]);
});
