import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  errorToJsonBytes,
  parseTimeout as parseConnectTimeout,
} from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { limits } from "#lang/limits.ts";
import type { HttpResponse } from "#wire/kit/http.ts";
import type { Sender } from "#wire/kit/sender.ts";
import { closeSoon } from "./close-soon.ts";
import { messageTooLarge } from "./error.ts";
import { FRAME_HEAD, isCompressed } from "./frames.ts";
import { malformed } from "./decode/protobuf-reader.ts";
import { TIMEOUT_MS_MAX } from "./timeout.ts";

/** The two protocols' ways to frame a message and to send the status. */
export interface Exchange {
  /** By the clock of performance.now(); throws for a deadline that cannot be read. */
  deadlineMs(headers: Sender["headers"]): number | undefined;
  unwrap(bytes: Buffer): Buffer;
  /** The message in pieces, which are sent one after another. */
  answer(message: readonly Uint8Array[]): void;
  refuse(error: ConnectError): void;
  /** Calls back when the client has the answer, or will never have it. */
  onClose(listener: () => void): void;
}

export class GrpcExchange implements Exchange {
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

  answer(message: readonly Uint8Array[]): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    const head = Buffer.alloc(FRAME_HEAD);
    head.writeUInt32BE(sizeOf(message), 1);
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    sendAll(stream, [head, ...message]);
  }

  refuse(error: ConnectError): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || stream.headersSent) return;
    const trailers = trailersOf(error);
    stream.respond(
      { ":status": 200, "content-type": "application/grpc+proto", ...trailers },
      { endStream: true },
    );
    closeSoon(stream);
  }

  onClose(listener: () => void): void {
    this.#stream.once("close", listener);
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

  answer(message: readonly Uint8Array[]): void {
    this.send(200, { "content-type": "application/proto" }, message);
  }

  refuse(error: ConnectError): void {
    const headers = Object.fromEntries(error.metadata);
    this.send(codeToHttpStatus(error.code), { ...headers, "content-type": "application/json" }, [
      errorToJsonBytes(error, undefined),
    ]);
  }

  abstract onClose(listener: () => void): void;

  protected abstract send(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
  ): void;
}

export class ConnectExchange extends ConnectUnary {
  readonly #response: HttpResponse;

  constructor(response: HttpResponse) {
    super();
    this.#response = response;
  }

  protected override send(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
  ): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader("content-length", String(sizeOf(body)));
    sendAll(response, body);
  }

  override onClose(listener: () => void): void {
    this.#response.once("close", listener);
  }
}

export class ConnectStreamExchange extends ConnectUnary {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    super();
    this.#stream = stream;
  }

  protected override send(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
  ): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || stream.headersSent) return;
    stream.respond({ ":status": status, ...headers });
    sendAll(stream, body);
    closeSoon(stream);
  }

  override onClose(listener: () => void): void {
    this.#stream.once("close", listener);
  }
}

/** Of errors that were made once for many refusals. */
const knownTrailers = new WeakMap<ConnectError, Readonly<Record<string, string>>>();

function trailersOf(error: ConnectError): Readonly<Record<string, string>> {
  let trailers = knownTrailers.get(error);
  if (trailers === undefined) {
    trailers = Object.fromEntries(setTrailerStatus(new Headers(), error));
    knownTrailers.set(error, trailers);
  }
  return trailers;
}

export function isGrpc(headers: IncomingHttpHeaders): boolean {
  const type = headers["content-type"];
  return (
    (type === "application/grpc" || type === "application/grpc+proto") && isPlain(headers["grpc-encoding"])
  );
}

export function isConnect(headers: IncomingHttpHeaders): boolean {
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

function unary(problem: string): ConnectError {
  return new ConnectError(`protocol error: ${problem} for unary method`, Code.Unimplemented);
}

export function sizeOf(pieces: readonly Uint8Array[]): number {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  return size;
}

/** In one go, and without joining them first. */
function sendAll(out: Writable, pieces: readonly Uint8Array[]): void {
  out.cork();
  for (const piece of pieces) out.write(piece);
  out.end();
  out.uncork();
}
