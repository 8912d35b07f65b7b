import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { createContextValues, type ConnectRouter } from "@connectrpc/connect";
import type { Permission } from "#core/types/permission.ts";
import { whileAnswering } from "#wire/kit/answering.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { senderOf } from "#wire/kit/sender.ts";
import { connectAdapter } from "./adapter.ts";
import { gate, openCallKey, receivedKey, senderKey, translate } from "./context.ts";
import type { ConnectOptions } from "./core.ts";
import { withPosition } from "./answer/answer-position.ts";
import { fastMethods } from "./fast-methods.ts";
import { FastUnary } from "./fast-unary.ts";
import { Health, registerHealth } from "./services/health.ts";
import { type MethodTraits, OpenCall, traitsOf } from "./open-call.ts";
import { methodName, permissionTable, type Service } from "./permission.ts";
import { registerReflection, ServerReflection, ServerReflectionAlpha } from "./services/reflection.ts";
import { registerServices, SERVICES } from "./services/services.ts";

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

export function connectWire(options: ConnectOptions): ConnectWire {
  const services: Service[] = [
    ...SERVICES.map((desc) => ({ desc })),
    { desc: Health, permission: "public" },
    { desc: ServerReflection, permission: "public" },
    { desc: ServerReflectionAlpha, permission: "public" },
  ];
  const permissions = permissionTable(services);
  const methods = new Map<string, MethodTraits>(
    services.flatMap(({ desc }) =>
      desc.methods.map((method) => {
        const name = methodName(method);
        return [name, traitsOf(method, permissions.get(name)!)] as const;
      }),
    ),
  );
  const adapter = connectAdapter({
    routes: (router: ConnectRouter) => {
      registerServices(router, options);
      registerHealth(router, options.health, options.stopping);
      registerReflection(
        router,
        services.map(({ desc }) => desc.file),
      );
    },
    requestGate: gate(options, methods),
    interceptors: [translate(options), withPosition(options.core.positions, methods)],
    openCall: () => new OpenCall(options.traffic),
    contextValues: (request, call) =>
      createContextValues().set(receivedKey, []).set(openCallKey, call).set(senderKey, senderOf(request)),
    onFailure: options.onFailure,
  });
  const fast = options.fast === false ? undefined : new FastUnary(options, fastMethods(options), methods);
  return {
    permissions,
    owns: (path) => permissions.has(path.slice(1)),
    isClientStream: (path) => methods.get(path.slice(1))?.clientStreams === true,
    onRequest: (request, response) => {
      if (fast?.onRequest(request, response) === true) return;
      whileAnswering(request, response, () => adapter(request, response));
    },
    onStream: (stream, headers) => fast?.onStream(stream, headers) === true,
  };
}
