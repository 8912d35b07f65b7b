import { createClient, type Client, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { LogService } from "#proto/cairn/v1/log_pb.ts";
import { ArtifactService } from "#proto/cairn/v1/artifact_pb.ts";
import { LineageService } from "#proto/cairn/v1/lineage_pb.ts";
import { MetricService } from "#proto/cairn/v1/metric_pb.ts";
import { NamespaceService } from "#proto/cairn/v1/namespace_pb.ts";
import { RunService } from "#proto/cairn/v1/run_pb.ts";
import { SystemService } from "#proto/cairn/v1/system_pb.ts";
import { WatchService } from "#proto/cairn/v1/watch_pb.ts";

/** All ways to talk to a server, for tests that must hold on every one of them. */
export interface Way {
  name: string;
  /** Which server it talks to: with the fast ways, without them, over TLS, or with its data on disk. */
  server: "fast" | "generic" | "tls" | "disk";
  /** JSON has no -0. */
  json: boolean;
  /** Whether both sides may stream at once. */
  duplex: boolean;
  transport(baseUrl: string): Transport;
}

const grpc = (baseUrl: string): Transport =>
  createGrpcTransport({ baseUrl, nodeOptions: { rejectUnauthorized: false } });
const connect = (baseUrl: string, httpVersion: "1.1" | "2" = "1.1"): Transport =>
  createConnectTransport({ baseUrl, httpVersion, useBinaryFormat: true });

export const WAYS: readonly Way[] = [
  { name: "gRPC", server: "fast", json: false, duplex: true, transport: grpc },
  { name: "gRPC, generic", server: "generic", json: false, duplex: true, transport: grpc },
  { name: "gRPC to a server on disk", server: "disk", json: false, duplex: true, transport: grpc },
  { name: "gRPC over TLS", server: "tls", json: false, duplex: true, transport: grpc },
  { name: "Connect", server: "fast", json: false, duplex: false, transport: (url) => connect(url) },
  {
    name: "Connect, generic",
    server: "generic",
    json: false,
    duplex: false,
    transport: (url) => connect(url),
  },
  {
    name: "Connect over HTTP/2",
    server: "fast",
    json: false,
    duplex: true,
    transport: (url) => connect(url, "2"),
  },
  {
    name: "Connect with JSON",
    server: "fast",
    json: true,
    duplex: false,
    transport: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  },
  {
    name: "gRPC-Web",
    server: "fast",
    json: false,
    duplex: false,
    transport: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  },
];

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
