import { createClient, type Client, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  type GrpcTransportOptions,
} from "@connectrpc/connect-node";
import { LogService } from "#proto/cairn/v1/log_pb.ts";
import { ArtifactService } from "#proto/cairn/v1/artifact_pb.ts";
import { LineageService } from "#proto/cairn/v1/lineage_pb.ts";
import { MetricService } from "#proto/cairn/v1/metric_pb.ts";
import { NamespaceService } from "#proto/cairn/v1/namespace_pb.ts";
import { RunService } from "#proto/cairn/v1/run_pb.ts";
import { SystemService } from "#proto/cairn/v1/system_pb.ts";
import { WatchService } from "#proto/cairn/v1/watch_pb.ts";

/** What a test may choose for its client, on any way. */
export type WayOptions = Pick<GrpcTransportOptions, "sendCompression" | "compressMinBytes">;

/** One way to talk to a server. */
export interface Way {
  name: string;
  /** Which server it talks to: with the fast ways, without them, over TLS, or with its data on disk. */
  server: "fast" | "generic" | "tls" | "disk";
  /** JSON has no -0. */
  json: boolean;
  /** Whether both sides may stream at once. */
  duplex: boolean;
  transport(baseUrl: string, options?: WayOptions): Transport;
}

type MakeTransport = Way["transport"];

const grpc: MakeTransport = (baseUrl, options = {}) =>
  createGrpcTransport({ baseUrl, nodeOptions: { rejectUnauthorized: false }, ...options });
const grpcWeb: MakeTransport = (baseUrl, options = {}) =>
  createGrpcWebTransport({ baseUrl, httpVersion: "1.1", ...options });
const connect =
  (useBinaryFormat: boolean, httpVersion: "1.1" | "2" = "1.1"): MakeTransport =>
  (baseUrl, options = {}) =>
    createConnectTransport({ baseUrl, httpVersion, useBinaryFormat, ...options });

const GRPC: Way = { name: "gRPC", server: "fast", json: false, duplex: true, transport: grpc };
const JSON_WAY: Way = {
  name: "Connect with JSON",
  server: "fast",
  json: true,
  duplex: false,
  transport: connect(false),
};

/** All ways, for server/api/ways.test.ts and for what depends on the transport. */
export const WAYS: readonly Way[] = [
  GRPC,
  { ...GRPC, name: "gRPC, generic", server: "generic" },
  { ...GRPC, name: "gRPC to a server on disk", server: "disk" },
  { ...GRPC, name: "gRPC over TLS", server: "tls" },
  { name: "Connect", server: "fast", json: false, duplex: false, transport: connect(true) },
  { name: "Connect, generic", server: "generic", json: false, duplex: false, transport: connect(true) },
  { name: "Connect over HTTP/2", server: "fast", json: false, duplex: true, transport: connect(true, "2") },
  JSON_WAY,
  { name: "gRPC-Web", server: "fast", json: false, duplex: false, transport: grpcWeb },
];

/** For features: bytes over HTTP/2 by the fast methods, and text over HTTP/1.1 by the generic ones. */
export const TWO_WAYS: readonly Way[] = [GRPC, JSON_WAY];

export interface Clients {
  namespaces: Client<typeof NamespaceService>;
  runs: Client<typeof RunService>;
  metrics: Client<typeof MetricService>;
  lineage: Client<typeof LineageService>;
  artifacts: Client<typeof ArtifactService>;
  logs: Client<typeof LogService>;
  watch: Client<typeof WatchService>;
  system: Client<typeof SystemService>;
}

export function clientsOf(transport: Transport): Clients {
  return {
    namespaces: createClient(NamespaceService, transport),
    runs: createClient(RunService, transport),
    metrics: createClient(MetricService, transport),
    lineage: createClient(LineageService, transport),
    artifacts: createClient(ArtifactService, transport),
    logs: createClient(LogService, transport),
    watch: createClient(WatchService, transport),
    system: createClient(SystemService, transport),
  };
}
