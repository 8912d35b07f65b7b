import { createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AccessService } from "#proto/cairn/v1/access_pb.ts";
import { ArtifactService } from "#proto/cairn/v1/artifact_pb.ts";
import { ExploreService } from "#proto/cairn/v1/explore_pb.ts";
import { LineageService } from "#proto/cairn/v1/lineage_pb.ts";
import { LogService } from "#proto/cairn/v1/log_pb.ts";
import { MetricService } from "#proto/cairn/v1/metric_pb.ts";
import { NamespaceService } from "#proto/cairn/v1/namespace_pb.ts";
import { RunService } from "#proto/cairn/v1/run_pb.ts";
import { SystemService } from "#proto/cairn/v1/system_pb.ts";
import { WatchService } from "#proto/cairn/v1/watch_pb.ts";

export interface ServerAddress {
  /** Such as `http://127.0.0.1:4700`; a base path behind a proxy stays part of it. */
  url: string;
  /** Absent on a server that needs none. */
  token?: string | undefined;
}

const CALL_MS_MAX = 30_000;

/**
 * A server, as a program sees it: every service of the API, and plain HTTP for content. Works in Node and in
 * a browser. Calls throw ConnectError; `Failure.from` explains it.
 */
export class Cairn {
  readonly url: string;
  readonly access: Client<typeof AccessService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly explore: Client<typeof ExploreService>;
  readonly lineage: Client<typeof LineageService>;
  readonly logs: Client<typeof LogService>;
  readonly metrics: Client<typeof MetricService>;
  readonly namespaces: Client<typeof NamespaceService>;
  readonly runs: Client<typeof RunService>;
  readonly system: Client<typeof SystemService>;
  readonly watch: Client<typeof WatchService>;
  readonly #token: string | undefined;
  readonly #headers: () => Readonly<Record<string, string>>;

  /** Interceptors see every call, as those of Connect do; `wrap` gets the transport itself; `headers` go with every call and every `fetch`. */
  constructor(
    { url, token }: ServerAddress,
    {
      timeoutMs = CALL_MS_MAX,
      interceptors = [],
      wrap = (transport) => transport,
      headers = () => ({}),
    }: {
      timeoutMs?: number;
      interceptors?: readonly Interceptor[];
      wrap?: (transport: Transport) => Transport;
      headers?: () => Readonly<Record<string, string>>;
    } = {},
  ) {
    this.url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#headers = headers;
    const authorize: Interceptor = (next) => (request) => {
      for (const [name, value] of Object.entries(headers())) request.header.set(name, value);
      if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
      return next(request);
    };
    const transport = wrap(
      createConnectTransport({
        baseUrl: this.url,
        useBinaryFormat: true,
        interceptors: [authorize, ...interceptors],
        defaultTimeoutMs: timeoutMs,
      }),
    );
    this.access = createClient(AccessService, transport);
    this.artifacts = createClient(ArtifactService, transport);
    this.explore = createClient(ExploreService, transport);
    this.lineage = createClient(LineageService, transport);
    this.logs = createClient(LogService, transport);
    this.metrics = createClient(MetricService, transport);
    this.namespaces = createClient(NamespaceService, transport);
    this.runs = createClient(RunService, transport);
    this.system = createClient(SystemService, transport);
    this.watch = createClient(WatchService, transport);
  }

  /** Plain HTTP with the credential of this client; `path` begins with "/". Follows no redirect. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#headers())) headers.set(name, value);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    return fetch(this.url + path, { redirect: "error", ...init, headers });
  }
}
