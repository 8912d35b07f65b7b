import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { limits } from "#lang/limits.ts";
import { ByteCollector } from "#wire/kit/byte-collector.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { identify, type Identified } from "#wire/kit/identify.ts";
import { type Sender, senderOf, senderOfStream } from "#wire/kit/sender.ts";
import type { ConnectOptions } from "./core.ts";
import { messageTooLarge, toConnectError } from "./error.ts";
import {
  ConnectExchange,
  ConnectStreamExchange,
  type Exchange,
  GrpcExchange,
  isConnect,
  isGrpc,
  sizeOf,
} from "./exchange.ts";
import type { FastMethod } from "./fast-methods.ts";
import { FRAME_HEAD } from "./frames.ts";
import { type MethodTraits, OpenCall } from "./open-call.ts";

const MESSAGE_BYTES_MAX = limits.messageBytesMax + FRAME_HEAD;

/**
 * Methods without the generic stack, for gRPC and for Connect with binary bodies: the bytes of a message
 * go straight to the method, and those of its answer straight out. It declines other calls
 * (compression, JSON, gRPC-Web), which then use the generic stack; limits, deadlines, permission and
 * errors are the same on both.
 */
export class FastUnary {
  readonly #options: ConnectOptions;
  readonly #methods: ReadonlyMap<string, FastMethod & MethodTraits>;

  constructor(
    options: ConnectOptions,
    methods: readonly FastMethod[],
    traits: ReadonlyMap<string, MethodTraits>,
  ) {
    this.#options = options;
    this.#methods = new Map(
      methods.map((method) => [`/${method.name}`, { ...method, ...traits.get(method.name)! }]),
    );
  }

  /** Handles an HTTP/2 stream, or returns false. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const method = this.#methods.get(headers[":path"] ?? "");
    if (method === undefined || headers[":method"] !== "POST") return false;
    const grpc = isGrpc(headers);
    if (!grpc && !isConnect(headers)) return false;
    const sender = senderOfStream(stream, headers);
    const exchange = grpc ? new GrpcExchange(stream) : new ConnectStreamExchange(stream);
    this.#serve(method, stream, sender, exchange);
    return true;
  }

  /** Handles an HTTP/1 request, or returns false. */
  onRequest(request: HttpRequest, response: HttpResponse): boolean {
    const method = this.#methods.get(request.url ?? "");
    if (method === undefined || request.method !== "POST" || !isConnect(request.headers)) return false;
    this.#serve(method, request, senderOf(request), new ConnectExchange(response));
    return true;
  }

  #serve(method: FastMethod & MethodTraits, body: Body, sender: Sender, exchange: Exchange): void {
    const call = new OpenCall(this.#options.traffic);
    const refuse = (thrown: unknown): void => {
      call.close();
      exchange.refuse(toConnectError(thrown, this.#options.onFailure));
      body.resume();
    };
    exchange.onClose(() => call.close());
    const receive = ({ caller, account }: Identified): void => {
      call.admit(account, method, this.#options, sender.headers);
      const deadlineMs = exchange.deadlineMs(sender.headers);
      collect(body, call, refuse, (bytes) => {
        const work = async () => {
          const message = exchange.unwrap(bytes);
          if (method.expensive) await call.startWork();
          return method.answer({ ...caller, signal: call.signal }, message);
        };
        within(work(), deadlineMs)
          .then((message) => {
            call.endWork();
            call.letGoBody();
            call.answer(sizeOf(message));
            exchange.answer(message);
          })
          .catch(refuse);
      });
    };
    try {
      const identified = identify(this.#options, method.permission, sender);
      if (identified instanceof Promise) identified.then(receive).catch(refuse);
      else receive(identified);
    } catch (thrown) {
      refuse(thrown);
    }
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

/** Calls `done` once with everything, or `refuse` as soon as it is too much. Neither for a caller that left. */
function collect(
  body: Body,
  call: OpenCall,
  refuse: (thrown: unknown) => void,
  done: (bytes: Buffer) => void,
): void {
  const collected = new ByteCollector();
  let over = false;
  body.on("data", (chunk) => {
    if (over) return;
    try {
      if (collected.length + chunk.length > MESSAGE_BYTES_MAX) throw messageTooLarge();
      call.receive(chunk.length);
      collected.add(chunk);
    } catch (thrown) {
      over = true;
      collected.finish();
      refuse(thrown);
    }
  });
  body.on("end", () => {
    if (!over && body.aborted !== true) done(collected.finish());
  });
  body.on("error", () => undefined);
}

/** Writes continue: a caller that disconnected must retry to get the outcome. */
function within<T>(work: Promise<T>, deadlineMs: number | undefined): Promise<T> {
  if (deadlineMs === undefined) return work;
  return new Promise((resolve, reject) => {
    const expire = () => reject(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const timer = setTimeout(expire, Math.max(0, deadlineMs - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
