import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { createContextValues, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Permission } from "#core/access/permission.ts";
import { limits } from "#core/limits.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { guard, senderKey } from "./context.ts";
import type { ConnectOptions } from "./core.ts";
import { FastWrite } from "./fast-write.ts";
import { Health, registerHealth } from "./health.ts";
import { permissionTable, type Service } from "./permission.ts";
import { registerReflection, ServerReflection, ServerReflectionAlpha } from "./reflection.ts";
import { registerServices, SERVICES } from "./services.ts";
import { TIMEOUT_MS_MAX } from "./timeout.ts";

/** Our own API: gRPC, gRPC-Web, Connect and JSON, all from one description. */
export interface ConnectWire {
  /** What every method needs, by "package.Service/Method". */
  readonly permissions: ReadonlyMap<string, Permission>;
  /** Whether a request path belongs to this wire. */
  owns(path: string): boolean;
  /** Whether clients stream to this path. */
  isClientStream(path: string): boolean;
  onRequest(request: HttpRequest, response: HttpResponse): void;
  /** Tried first for every HTTP/2 stream; false leaves it to onRequest. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean;
}

// Big answers are columns of doubles, which gzip hardly shrinks and slows down twentyfold.
const COMPRESS_NOTHING = Number.MAX_SAFE_INTEGER;

export function connectWire(options: ConnectOptions): ConnectWire {
  const services: Service[] = [
    ...SERVICES.map((desc) => ({ desc })),
    { desc: Health, permission: "public" },
    { desc: ServerReflection, permission: "public" },
    { desc: ServerReflectionAlpha, permission: "public" },
  ];
  const permissions = permissionTable(services);
  const adapter = connectNodeAdapter({
    routes: (router: ConnectRouter) => {
      registerServices(router, options.core);
      registerHealth(router, options.health);
      registerReflection(
        router,
        services.map(({ desc }) => desc.file),
      );
    },
    interceptors: [guard(options, permissions)],
    contextValues: (request) =>
      createContextValues().set(senderKey, {
        address: request.socket.remoteAddress,
        headers: request.headers,
      }),
    readMaxBytes: limits.messageBytesMax,
    compressMinBytes: COMPRESS_NOTHING,
    maxTimeoutMs: TIMEOUT_MS_MAX,
    jsonOptions: { ignoreUnknownFields: false },
  });
  const write = permissions.get("cairn.v1.MetricService/WriteEnvelope")!;
  const fast = options.fastWrite === false ? undefined : new FastWrite(options, write);
  const streams = new Set(
    services.flatMap(({ desc }) =>
      desc.methods
        .filter(({ methodKind }) => methodKind === "client_streaming" || methodKind === "bidi_streaming")
        .map((method) => `/${desc.typeName}/${method.name}`),
    ),
  );
  return {
    permissions,
    owns: (path) => permissions.has(path.slice(1)),
    isClientStream: (path) => streams.has(path),
    onRequest: (request, response) => {
      if (fast?.onRequest(request, response) !== true) adapter(request, response);
    },
    onStream: (stream, headers) => fast?.onStream(stream, headers) === true,
  };
}
