import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  errorToJsonBytes,
  parseTimeout as parseConnectTimeout,
} from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import type { Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/access/permission.ts";
import { limits } from "#core/limits.ts";
import type { EnvelopeAck } from "#core/model/envelope.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { closeSoon } from "./close-soon.ts";
import { identify } from "./context.ts";
import type { ConnectOptions, Sender } from "./core.ts";
import { decodeEnvelope } from "./decode-envelope.ts";
import { messageTooLarge, toConnectError } from "./error.ts";
import { isCompressed } from "./frames.ts";
import { malformed } from "./protobuf-reader.ts";
import { TIMEOUT_MS_MAX } from "./timeout.ts";

const PATH = "/cairn.v1.MetricService/WriteEnvelope";
const FRAME_HEAD = 5;

/**
 * WriteEnvelope without the generic stack, for gRPC and for Connect with binary bodies: the bytes go
 * straight to the decoder. It declines whatever is not plain (compression, JSON, gRPC-Web), which then
 * takes the generic way; limits, deadlines, permission and errors are the same on both.
 */
export class FastWrite {
  readonly #options: ConnectOptions;
  readonly #permission: Permission;

  constructor(options: ConnectOptions, permission: Permission) {
    this.#options = options;
    this.#permission = permission;
  }

  /** Takes an HTTP/2 stream, or returns false. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    if (headers[":path"] !== PATH || headers[":method"] !== "POST") return false;
    const grpc = isGrpc(headers);
    if (!grpc && !isConnect(headers)) return false;
    const sender = { address: stream.session?.socket.remoteAddress, headers };
    const exchange = grpc ? new GrpcExchange(stream) : new ConnectStreamExchange(stream);
    this.#serve(stream, sender, exchange);
    return true;
  }

  /** Takes an HTTP/1 request, or returns false. */
  onRequest(request: HttpRequest, response: HttpResponse): boolean {
    if (request.url !== PATH || request.method !== "POST" || !isConnect(request.headers)) return false;
    const sender = { address: request.socket.remoteAddress, headers: request.headers };
    this.#serve(request, sender, new ConnectExchange(response));
    return true;
  }

  #serve(body: Body, sender: Sender, exchange: Exchange): void {
    let caller: Caller;
    let deadlineMs: number | undefined;
    try {
      caller = identify(this.#options, this.#permission, sender);
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
      this.#write(caller, exchange, bytes, deadlineMs).then(
        (ack) => exchange.answer(encodeAck(ack)),
        (thrown: unknown) => this.#refuse(body, exchange, thrown),
      );
    });
  }

  async #write(
    caller: Caller,
    exchange: Exchange,
    bytes: Buffer,
    deadlineMs: number | undefined,
  ): Promise<EnvelopeAck> {
    const writing = this.#options.core.ingest.write(caller, decodeEnvelope(exchange.unwrap(bytes)));
    return deadlineMs === undefined ? writing : within(writing, deadlineMs);
  }

  #refuse(body: Body, exchange: Exchange, thrown: unknown): void {
    exchange.refuse(toConnectError(thrown, this.#options.onFailure));
    body.resume();
  }
}

/** The two protocols' ways to wrap a message and to say how it went. */
interface Exchange {
  /** By the clock of performance.now(); throws for a deadline that cannot be read. */
  deadlineMs(headers: Sender["headers"]): number | undefined;
  unwrap(bytes: Buffer): Buffer;
  answer(message: Uint8Array): void;
  refuse(error: ConnectError): void;
}

class GrpcExchange implements Exchange {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  deadlineMs(headers: Sender["headers"]): number | undefined {
    return deadline(parseGrpcTimeout(textOf(headers["grpc-timeout"]), TIMEOUT_MS_MAX));
  }

  unwrap(bytes: Buffer): Buffer {
    if (bytes.length < FRAME_HEAD) throw unary("missing input message");
    const size = bytes.readUInt32BE(1);
    if (isCompressed(bytes[0]!))
      throw new ConnectError(
        "received compressed envelope, but do not know how to decompress",
        Code.Internal,
      );
    if (size > limits.messageBytesMax) throw messageTooLarge();
    if (bytes.length < FRAME_HEAD + size) throw malformed("a frame that ends beyond its request");
    if (bytes.length > FRAME_HEAD + size) throw unary("received extra input message");
    return bytes.subarray(FRAME_HEAD);
  }

  answer(message: Uint8Array): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    const frame = Buffer.allocUnsafe(FRAME_HEAD + message.length);
    frame[0] = 0;
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, FRAME_HEAD);
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(frame);
  }

  refuse(error: ConnectError): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || stream.headersSent) return;
    const trailers = Object.fromEntries(setTrailerStatus(new Headers(), error));
    stream.respond(
      { ":status": 200, "content-type": "application/grpc+proto", ...trailers },
      { endStream: true },
    );
    closeSoon(stream);
  }
}

abstract class ConnectUnary implements Exchange {
  deadlineMs(headers: Sender["headers"]): number | undefined {
    return deadline(parseConnectTimeout(textOf(headers["connect-timeout-ms"]), TIMEOUT_MS_MAX));
  }

  unwrap(bytes: Buffer): Buffer {
    if (bytes.length > limits.messageBytesMax) throw messageTooLarge();
    return bytes;
  }

  answer(message: Uint8Array): void {
    this.send(200, "application/proto", message);
  }

  refuse(error: ConnectError): void {
    this.send(codeToHttpStatus(error.code), "application/json", errorToJsonBytes(error, undefined));
  }

  protected abstract send(status: number, contentType: string, body: Uint8Array): void;
}

class ConnectExchange extends ConnectUnary {
  readonly #response: HttpResponse;

  constructor(response: HttpResponse) {
    super();
    this.#response = response;
  }

  protected override send(status: number, contentType: string, body: Uint8Array): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    response.statusCode = status;
    response.setHeader("content-type", contentType);
    response.setHeader("content-length", String(body.length));
    response.end(body);
  }
}

class ConnectStreamExchange extends ConnectUnary {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    super();
    this.#stream = stream;
  }

  protected override send(status: number, contentType: string, body: Uint8Array): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || stream.headersSent) return;
    stream.respond({ ":status": status, "content-type": contentType });
    stream.end(body);
    closeSoon(stream);
  }
}

interface Body {
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
    if (!over) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
  });
  body.on("error", () => undefined);
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers["content-type"];
  return (
    (type === "application/grpc" || type === "application/grpc+proto") && isPlain(headers["grpc-encoding"])
  );
}

function isConnect(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"] === "application/proto" && isPlain(headers["content-encoding"]);
}

function isPlain(encoding: string | readonly string[] | undefined): boolean {
  return encoding === undefined || encoding === "identity";
}

function textOf(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function deadline(parsed: { timeoutMs?: number; error?: ConnectError | undefined }): number | undefined {
  if (parsed.error !== undefined) throw parsed.error;
  return parsed.timeoutMs === undefined ? undefined : performance.now() + parsed.timeoutMs;
}

/** The write itself goes on: the caller must retry to learn how it went, and the number tells. */
function within<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new ConnectError("the operation timed out", Code.DeadlineExceeded));
    const timer = setTimeout(expire, Math.max(0, deadlineMs - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function unary(problem: string): ConnectError {
  return new ConnectError(`protocol error: ${problem} for unary method`, Code.Unimplemented);
}

const scratch = new ByteWriter(64);

function encodeAck({ seq, duplicate, points }: EnvelopeAck): Uint8Array {
  if (seq > 0) {
    scratch.u8(0x08);
    scratch.varint(seq);
  }
  if (duplicate) {
    scratch.u8(0x10);
    scratch.u8(1);
  }
  if (points > 0) {
    scratch.u8(0x18);
    scratch.varint(points);
  }
  return scratch.finish();
}
