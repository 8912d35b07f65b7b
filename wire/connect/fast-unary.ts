import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/access/permission.ts";
import { limits } from "#core/limits.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { identify } from "./context.ts";
import type { ConnectOptions, Sender } from "./core.ts";
import { messageTooLarge, toConnectError } from "./error.ts";
import {
  ConnectExchange,
  ConnectStreamExchange,
  type Exchange,
  FRAME_HEAD,
  GrpcExchange,
  isConnect,
  isGrpc,
} from "./exchange.ts";
import type { FastMethod } from "./fast-methods.ts";

/**
 * Methods without the generic stack, for gRPC and for Connect with binary bodies: the bytes of a message
 * go straight to the method, and those of its answer straight out. It declines whatever is not plain
 * (compression, JSON, gRPC-Web), which then takes the generic way; limits, deadlines, permission and
 * errors are the same on both.
 */
export class FastUnary {
  readonly #options: ConnectOptions;
  readonly #methods: ReadonlyMap<string, FastMethod & { permission: Permission }>;

  constructor(
    options: ConnectOptions,
    methods: readonly FastMethod[],
    permissions: ReadonlyMap<string, Permission>,
  ) {
    this.#options = options;
    this.#methods = new Map(
      methods.map((method) => [`/${method.name}`, { ...method, permission: permissions.get(method.name)! }]),
    );
  }

  /** Takes an HTTP/2 stream, or returns false. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const method = this.#methods.get(headers[":path"] ?? "");
    if (method === undefined || headers[":method"] !== "POST") return false;
    const grpc = isGrpc(headers);
    if (!grpc && !isConnect(headers)) return false;
    const sender = { address: stream.session?.socket.remoteAddress, headers };
    const exchange = grpc ? new GrpcExchange(stream) : new ConnectStreamExchange(stream);
    this.#serve(method, stream, sender, exchange);
    return true;
  }

  /** Takes an HTTP/1 request, or returns false. */
  onRequest(request: HttpRequest, response: HttpResponse): boolean {
    const method = this.#methods.get(request.url ?? "");
    if (method === undefined || request.method !== "POST" || !isConnect(request.headers)) return false;
    const sender = { address: request.socket.remoteAddress, headers: request.headers };
    this.#serve(method, request, sender, new ConnectExchange(response));
    return true;
  }

  #serve(
    method: FastMethod & { permission: Permission },
    body: Body,
    sender: Sender,
    exchange: Exchange,
  ): void {
    let caller: Caller;
    let deadlineMs: number | undefined;
    try {
      caller = identify(this.#options, method.permission, sender);
      deadlineMs = exchange.deadlineMs(sender.headers);
    } catch (thrown) {
      this.#refuse(body, exchange, thrown);
      return;
    }
    collect(body, limits.messageBytesMax + FRAME_HEAD, (bytes) => {
      if (bytes === undefined) {
        this.#refuse(body, exchange, messageTooLarge());
        return;
      }
      const work = async () => method.answer(caller, exchange.unwrap(bytes));
      within(work(), deadlineMs).then(
        (message) => exchange.answer(message),
        (thrown: unknown) => this.#refuse(body, exchange, thrown),
      );
    });
  }

  #refuse(body: Body, exchange: Exchange, thrown: unknown): void {
    exchange.refuse(toConnectError(thrown, this.#options.onFailure));
    body.resume();
  }
}

interface Body {
  /** Of a stream that the client reset, which ends like one it finished. */
  readonly aborted?: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "aborted" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** Calls `done` once: with everything, or with undefined as soon as it is too much. Never for a caller that left. */
function collect(body: Body, bytesMax: number, done: (bytes: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let over = false;
  body.on("data", (chunk) => {
    if (over) return;
    size += chunk.length;
    if (size > bytesMax) {
      over = true;
      done(undefined);
    } else chunks.push(chunk);
  });
  body.on("end", () => {
    if (!over && body.aborted !== true) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
  });
  body.on("error", () => undefined);
}

/** The work itself goes on: a caller that gave up must ask again to learn how it went. */
function within<T>(work: Promise<T>, deadlineMs: number | undefined): Promise<T> {
  if (deadlineMs === undefined) return work;
  return new Promise((resolve, reject) => {
    const expire = () => reject(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const timer = setTimeout(expire, Math.max(0, deadlineMs - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
