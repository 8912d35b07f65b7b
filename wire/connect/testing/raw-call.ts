import { once } from "node:events";
import { request as requestHttp1 } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { buffer } from "node:stream/consumers";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";

/** Calls written by hand: any bytes, any headers, and their outcome in one form for all protocols. */
export const PROTOCOLS = ["grpc", "connect", "connect over http2", "grpc-web"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export const WRITE_PATH = "/cairn.v1.MetricService/WriteEnvelope";

export interface RawCall {
  protocol: Protocol;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  /** The message. It is put into a frame where the protocol has frames, unless `framed` says it is in one. */
  message: Uint8Array;
  framed?: boolean;
  /** Frame flags; 1 for a message that is compressed. */
  flags?: number;
}

export interface RawAnswer {
  status: number;
  headers: Headers;
  trailers: Headers;
  body: Buffer;
}

/** The outcome of a call, comparable between protocols. */
export type Outcome = { ok: true } | { ok: false; code: string; message: string; details: ErrorFacts[] };

export interface ErrorFacts {
  reason: string;
  hint: string;
  facts: Record<string, string>;
}

const TYPES: Readonly<Record<Protocol, string>> = {
  grpc: "application/grpc+proto",
  connect: "application/proto",
  "connect over http2": "application/proto",
  "grpc-web": "application/grpc-web+proto",
};

export function frame(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

export async function callRaw(url: string, call: RawCall): Promise<Outcome> {
  return outcomeOf(call.protocol, await sendRaw(url, call));
}

export async function sendRaw(url: string, call: RawCall): Promise<RawAnswer> {
  const { protocol, path = WRITE_PATH, method = "POST", message, flags = 0 } = call;
  const bare = protocol.startsWith("connect") || call.framed === true;
  const body = bare ? message : frame(message, flags);
  const headers = {
    "content-type": TYPES[protocol],
    ...(protocol === "grpc" && { te: "trailers" }),
    ...call.headers,
  };
  const over1 = protocol === "connect" || protocol === "grpc-web";
  return over1 ? sendHttp1(url, path, method, headers, body) : sendHttp2(url, path, method, headers, body);
}

async function sendHttp1(
  url: string,
  path: string,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<RawAnswer> {
  const request = requestHttp1(new URL(path, url), { method, headers, agent: false });
  request.on("error", () => {});
  request.end(body);
  const [response] = await once(request, "response");
  return {
    status: response.statusCode,
    headers: headersOf(response.headers),
    trailers: new Headers(),
    body: await buffer(response),
  };
}

async function sendHttp2(
  url: string,
  path: string,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<RawAnswer> {
  // What waits to be sent counts; the answer may come before all of it has left.
  const session = connect(url, { maxSessionMemory: 256 });
  try {
    const stream = session.request({ ":path": path, ":method": method, ...headers });
    let trailers: IncomingHttpHeaders = {};
    stream.on("trailers", (received) => (trailers = received));
    stream.on("error", () => {});
    const answered = once(stream, "response");
    stream.end(body);
    const [received] = (await answered) as [IncomingHttpHeaders];
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    if (!stream.closed) await once(stream, "close");
    return {
      status: Number(received[":status"]),
      headers: headersOf(received),
      trailers: headersOf(trailers),
      body: Buffer.concat(chunks),
    };
  } finally {
    session.destroy();
  }
}

function headersOf(received: IncomingHttpHeaders | NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (!name.startsWith(":") && value !== undefined) headers.append(name, String(value));
  }
  return headers;
}

export function outcomeOf(protocol: Protocol, answer: RawAnswer): Outcome {
  const error = protocol.startsWith("connect") ? connectErrorOf(answer) : grpcErrorOf(protocol, answer);
  return error === undefined ? { ok: true } : describeError(error);
}

function connectErrorOf({ status, headers, body }: RawAnswer): ConnectError | undefined {
  if (status === 200) return undefined;
  const fallback = new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status));
  return headers.get("content-type")?.startsWith("application/json") === true
    ? errorFromJsonBytes(body, headers, fallback)
    : fallback;
}

function grpcErrorOf(protocol: Protocol, answer: RawAnswer): ConnectError | undefined {
  const { status, headers, trailers, body } = answer;
  if (status !== 200) return new ConnectError(`HTTP ${status}`, codeFromHttpStatus(status));
  if (headers.has("grpc-status")) return findTrailerError(headers);
  return findTrailerError(protocol === "grpc" ? trailers : webTrailers(body));
}

/** gRPC-Web puts the trailers into the last frame of the body. */
function webTrailers(body: Buffer): Headers {
  const trailers = new Headers();
  for (let at = 0; at + 5 <= body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    if ((body[at]! & 0x80) !== 0) {
      for (const line of body.toString("latin1", at + 5, end).split("\r\n")) {
        const colon = line.indexOf(":");
        if (colon > 0) trailers.append(line.slice(0, colon), line.slice(colon + 1).trim());
      }
    }
    at = end;
  }
  return trailers;
}

/** What a program can see of an error, for any protocol. */
function describeError(thrown: unknown): Extract<Outcome, { ok: false }> {
  const error = ConnectError.from(thrown);
  const details = error.findDetails(ErrorDetailSchema);
  return {
    ok: false,
    code: Code[error.code],
    message: error.rawMessage,
    details: details.map(({ reason, hint, facts }) => ({ reason, hint, facts: { ...facts } })),
  };
}

/** The outcome of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<Extract<Outcome, { ok: false }>> {
  try {
    await call;
  } catch (thrown) {
    return describeError(thrown);
  }
  throw new Error("the call did not fail");
}
