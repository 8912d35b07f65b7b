import { fromJson, toBinary, type DescMethod, type JsonObject } from "@bufbuild/protobuf";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { ServerReflection, ServerReflectionAlpha } from "#wire/connect/services/reflection.ts";
import { SERVICES } from "#wire/connect/services/services.ts";
import type { Random } from "./random.ts";

/** What the requests are about. */
export interface Target {
  runId: string;
  /** A token that may do everything; undefined where none is needed. */
  token: string | undefined;
}

const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  [...SERVICES, Health, ServerReflection, ServerReflectionAlpha].flatMap((service) =>
    service.methods.map((method) => [`${service.typeName}/${method.name}`, method] as const),
  ),
);

/** A separate run, so that the one that is read does not change. */
const SCRATCH = { alias: "scratch" };
const KEYS = 8;

type Message = (target: Target, random: Random) => JsonObject;

const byId: Message = ({ runId }) => ({ run: { id: runId } });
const nothing: Message = () => ({});

/** Nearly all are sent again and again with the same number, so that a long run does not fill the store. */
const envelope: Message = (_, random) => ({
  run: SCRATCH,
  ...(random.chance(0.95) && { writer: `w${random.between(0, 3)}`, seq: 1 }),
  series: [
    {
      key: `k${random.between(0, KEYS - 1)}`,
      values: Array.from({ length: random.pick([1, 1, 10, 2_000]) }, () => 0.5),
    },
  ],
  ...(random.chance(0.3) && { log: [{ lines: ["a line", "another"] }] }),
});

const envelopes: Message = (target, random) => ({
  envelopes: Array.from({ length: random.between(0, 8) }, () => envelope(target, random)),
});

/** Methods that change nothing or little on the server, for any caller and any number of calls. */
const ROWS: readonly (readonly [name: string, message: Message])[] = [
  ["cairn.v1.MetricService/WriteEnvelope", envelope],
  ["cairn.v1.MetricService/WriteEnvelope", envelope],
  ["cairn.v1.MetricService/WriteEnvelopes", envelopes],
  ["cairn.v1.MetricService/StreamEnvelopes", envelope],
  ["cairn.v1.MetricService/StreamEnvelopes", envelope],
  ["cairn.v1.MetricService/ReadSeries", (target) => ({ series: [{ ...byIdOf(target), key: "loss" }] })],
  ["cairn.v1.MetricService/ReadSeries", (target) => ({ series: [{ ...byIdOf(target), key: "none" }] })],
  [
    "cairn.v1.MetricService/ReadGroups",
    ({ runId }) => ({ groups: [{ name: "g", runs: [{ id: runId }] }], key: "loss" }),
  ],
  ["cairn.v1.MetricService/ListSeries", byId],
  ["cairn.v1.ExploreService/CompareRuns", ({ runId }) => ({ runs: [{ id: runId }] })],
  ["cairn.v1.ExploreService/ListFields", nothing],
  ["cairn.v1.ExploreService/GetImportance", () => ({ objective: "metrics.loss.min" })],
  ["cairn.v1.RunService/SearchRuns", nothing],
  ["cairn.v1.RunService/SearchRuns", () => ({ query: "status = (" })],
  [
    "cairn.v1.RunService/CreateRun",
    (_, random) => {
      const name = `made-${random.between(0, 15)}`;
      return { namespace: "aborts", name, aliases: [name], getOrCreate: true };
    },
  ],
  ["cairn.v1.RunService/GetRun", byId],
  ["cairn.v1.RunService/UpdateRun", (target) => ({ ...byIdOf(target), notes: "changed" })],
  ["cairn.v1.NamespaceService/ListNamespaces", nothing],
  ["cairn.v1.ArtifactService/ListArtifacts", byId],
  ["cairn.v1.LineageService/GetLineage", byId],
  ["cairn.v1.LogService/ReadLog", byId],
  ["cairn.v1.LogService/SearchLog", (target) => ({ ...byIdOf(target), text: "line" })],
  ["cairn.v1.LogService/TailLog", (target) => ({ ...byIdOf(target), from: 0 })],
  ["cairn.v1.LogService/TailLog", () => ({ run: SCRATCH, from: 0 })],
  ["cairn.v1.WatchService/Watch", watchRequest],
  ["cairn.v1.WatchService/Watch", watchRequest],
  ["cairn.v1.SystemService/GetInfo", nothing],
  ["cairn.v1.SystemService/CheckIntegrity", nothing],
  ["cairn.v1.SystemService/VerifyRun", byId],
  ["cairn.v1.AccessService/WhoAmI", nothing],
  ["cairn.v1.AccessService/LogIn", () => ({ name: "nobody", password: "wrong" })],
  ["cairn.v1.AccessService/ListAudit", nothing],
  ["grpc.health.v1.Health/Check", nothing],
  ["grpc.health.v1.Health/Watch", nothing],
  ["grpc.reflection.v1.ServerReflection/ServerReflectionInfo", () => ({ listServices: "*" })],
  ["grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", () => ({ listServices: "*" })],
];

function byIdOf({ runId }: Target): JsonObject {
  return { run: { id: runId } };
}

function watchRequest(target: Target): JsonObject {
  return {
    runs: { namespace: "aborts" },
    series: [{ run: SCRATCH }, byIdOf(target)],
    logs: [{ run: SCRATCH }],
  };
}

export interface MethodCall {
  /** As "package.Service/Method". */
  name: string;
  streams: boolean;
  /** More than one only where the method takes a stream. */
  messages: readonly { json: Buffer; proto: Buffer }[];
}

export function chooseMethodCall(random: Random, target: Target): MethodCall {
  const [name, message] = random.pick(ROWS);
  const method = METHODS.get(name)!;
  const takesStream = method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming";
  const count = takesStream ? random.between(0, 5) : 1;
  const messages = Array.from({ length: count }, () => encode(method, message(target, random)));
  return { name, streams: method.methodKind !== "unary", messages };
}

function encode(method: DescMethod, message: JsonObject): { json: Buffer; proto: Buffer } {
  return {
    json: Buffer.from(JSON.stringify(message)),
    proto: Buffer.from(toBinary(method.input, fromJson(method.input, message))),
  };
}
