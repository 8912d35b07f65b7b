import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { EnvelopeSchema, WriteEnvelopesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import { ByteCollector } from "../../kit/byte-collector.ts";
import type { Encoding } from "../../kit/decoder.ts";
import { inflate } from "../../kit/inflate.ts";
import { contentTypeOf } from "../../kit/router.ts";
import { checkBinary } from "./binary.ts";
import { checkJson } from "./json.ts";
import { receivedKey, receivedManyKey } from "../context.ts";
import { decodeEnvelope } from "../decode/envelope.ts";
import { decodeEnvelopes } from "../decode/envelopes.ts";
import { messageTooLarge, toConnectError, unfoldsTooFar, type OnFailure } from "../error.ts";
import { FRAME_HEAD, Frames, frameOf, isCompressed } from "../frames.ts";
import type { OpenCall } from "../open-call.ts";
import { malformed } from "../decode/protobuf-reader.ts";
import { TIMEOUT_MS_MAX } from "../timeout.ts";

/** Those that the generic stack knows, too. */
const COMPRESSIONS: readonly Encoding[] = ["gzip", "br"];
const NOTHING = new Uint8Array(0);
/** How long a message of a stream may take to come in, and how long nothing of it may come. */
const MESSAGE_MS_MAX = 600_000;
const MESSAGE_IDLE_MS = 60_000;

/**
 * Runs between the port and the generic stack and checks every message before that makes objects of
 * it: a few kilobytes of gzip can hold sixteen million empty messages, which no heap survives. It also
 * names what is wrong in the same words as everywhere else.
 *
 * An envelope in binary is decoded here and left in `receivedKey`, many in `receivedManyKey`; the stack sees an empty
 * message in their place, so that they are not decoded twice.
 */
export function checkRequest(
  request: UniversalServerRequest,
  method: DescMethod,
  call: OpenCall,
  onFailure: OnFailure,
): UniversalServerRequest {
  const type = contentTypeOf(request.header.get("content-type") ?? undefined);
  const framed = type !== "application/json" && type !== "application/proto";
  const encoding = !framed
    ? "content-encoding"
    : type.startsWith("application/connect")
      ? "connect-content-encoding"
      : "grpc-encoding";
  const header = new Headers(request.header);
  const compression = COMPRESSIONS.find((name) => name === header.get(encoding));
  if (compression !== undefined) header.delete(encoding);
  header.delete("content-length");
  const check = (bytes: Uint8Array): Uint8Array => {
    if (type.endsWith("json")) checkJson(bytes);
    else if (method.input.typeName === EnvelopeSchema.typeName) {
      request.contextValues?.get(receivedKey).push(decodeEnvelope(bytes));
      return NOTHING;
    } else if (method.input.typeName === WriteEnvelopesRequestSchema.typeName) {
      request.contextValues?.set(receivedManyKey, decodeEnvelopes(bytes));
      return NOTHING;
    } else checkBinary(method.input, bytes);
    return bytes;
  };
  const timeout = timeoutOf(type, header);
  const chunks = whileThere(request.body as AsyncIterable<Uint8Array>);
  const incoming = { chunks, compression, check, call };
  const streams = method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming";
  const messages = framed ? checkFrames(incoming, streams) : checkOne(incoming);
  return { ...request, header, body: translated(timeout ?? messages, onFailure) };
}

/** A deadline that cannot be kept is refused here: the stack would set a timer for it first. */
function timeoutOf(type: string, header: Headers): AsyncIterable<never> | undefined {
  const grpc = type.startsWith("application/grpc");
  const name = grpc ? "grpc-timeout" : "connect-timeout-ms";
  const { error } = (grpc ? parseGrpcTimeout : parseConnectTimeout)(header.get(name), TIMEOUT_MS_MAX);
  if (error === undefined) return undefined;
  header.delete(name);
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
  };
}

/** Socket errors after a client disconnected are not failures of the server. */
async function* whileThere(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw new CairnError("aborted", "cannot read the message: the client disconnected", { cause });
  }
}

/** A body and what is to be done with it. */
interface Incoming {
  chunks: AsyncIterable<Uint8Array>;
  compression: Encoding | undefined;
  check(bytes: Uint8Array): Uint8Array;
  call: OpenCall;
}

async function* checkOne({ chunks, compression, check, call }: Incoming): AsyncGenerator<Uint8Array> {
  const collected = new ByteCollector();
  for await (const chunk of chunks) {
    if (collected.length + chunk.length > limits.messageBytesMax) throw messageTooLarge();
    call.receive(chunk.length);
    collected.add(chunk);
  }
  yield check(await decompressed(collected.finish(), compression, call));
}

/**
 * A stream of messages is slowed down where a single message would be refused: what the client has sent
 * would be lost, and it waits anyway.
 */
async function* checkFrames(
  { chunks, compression, check, call }: Incoming,
  streams: boolean,
): AsyncGenerator<Uint8Array> {
  const frames = new Frames();
  for await (const chunk of streams ? whileMoving(chunks, frames) : chunks) {
    if (streams) call.hold(chunk.length);
    else call.receive(chunk.length);
    frames.add(chunk);
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      const { flags, data } = frame;
      // Without a declared encoding it cannot be decompressed: the stack says so.
      if (isCompressed(flags) && compression === undefined) yield frameOf(flags, data);
      else {
        const plain = isCompressed(flags) ? await decompressed(data, compression, call) : data;
        yield frameOf(0, check(plain));
        if (streams && plain !== data) call.letGo(plain.length);
      }
      if (!streams) continue;
      call.letGo(FRAME_HEAD + data.length);
      await call.pace(FRAME_HEAD + data.length);
    }
  }
  if (frames.pending) throw malformed("a frame that ends beyond its request");
}

/**
 * Ends a stream that has begun a message and does not finish it, because what came of it takes memory.
 * Between two messages it may be silent for as long as it likes.
 */
async function* whileMoving(chunks: AsyncIterable<Uint8Array>, frames: Frames): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let begunMs: number | undefined;
  try {
    for (;;) {
      if (!frames.pending) begunMs = undefined;
      else begunMs ??= performance.now();
      const next = await (begunMs === undefined ? iterator.next() : beforeStall(iterator.next(), begunMs));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    void iterator.return?.().catch(() => undefined);
  }
}

/** What comes next of a message that began at `begunMs`. */
function beforeStall<T>(next: Promise<T>, begunMs: number): Promise<T> {
  const leftMs = begunMs + MESSAGE_MS_MAX - performance.now();
  return new Promise((resolve, reject) => {
    const stall = (): void => {
      const message = "cannot read the message: it comes too slowly";
      reject(new CairnError("deadline", message, { reason: "BODY_STALLED" }));
    };
    const timer = setTimeout(stall, Math.max(0, Math.min(MESSAGE_IDLE_MS, leftMs)));
    next.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function decompressed(
  bytes: Uint8Array,
  compression: Encoding | undefined,
  call: OpenCall,
): Promise<Uint8Array> {
  if (compression === undefined) return bytes;
  const inflated = await inflate(bytes, compression, {
    bytesMax: limits.messageBytesMax,
    ratioMax: limits.decompressedRatioMax,
  });
  if (inflated.ok) {
    call.hold(inflated.bytes.length);
    return inflated.bytes;
  }
  throw inflated.problem === "damaged" ? malformed(`damaged ${compression} data`) : unfoldsTooFar();
}

async function* translated<T>(items: AsyncIterable<T>, onFailure: OnFailure): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (thrown) {
    throw toConnectError(thrown, onFailure);
  }
}
