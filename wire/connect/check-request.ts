import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import type { Compression, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { CairnError } from "#core/errors.ts";
import { limits } from "#core/limits.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { contentTypeOf } from "#wire/kit/router.ts";
import { checkBinary } from "./check-binary.ts";
import { checkJson } from "./check-json.ts";
import { receivedKey } from "./context.ts";
import { decodeEnvelope } from "./decode-envelope.ts";
import { messageTooLarge, toConnectError, type OnFailure } from "./error.ts";
import { Frames, frameOf, isCompressed } from "./frames.ts";
import { malformed } from "./protobuf-reader.ts";
import { TIMEOUT_MS_MAX } from "./timeout.ts";

const COMPRESSIONS: readonly Compression[] = [compressionGzip, compressionBrotli];
const NOTHING = new Uint8Array(0);

/**
 * Stands between the port and the generic stack and looks at every message before that makes objects of
 * it: a few kilobytes of gzip can hold sixteen million empty messages, which no heap survives. It also
 * names what is wrong in the same words as everywhere else.
 *
 * An envelope in binary is decoded here and left in `receivedKey`; the stack sees an empty message in its
 * place, so that nobody decodes it twice.
 */
export function checkRequest(
  request: UniversalServerRequest,
  method: DescMethod,
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
  const compression = COMPRESSIONS.find(({ name }) => name === header.get(encoding));
  if (compression !== undefined) header.delete(encoding);
  header.delete("content-length");
  const check = (bytes: Uint8Array): Uint8Array => {
    if (type.endsWith("json")) checkJson(bytes);
    else if (method.input.typeName === EnvelopeSchema.typeName) {
      request.contextValues?.get(receivedKey).push(decodeEnvelope(bytes));
      return NOTHING;
    } else checkBinary(method.input, bytes);
    return bytes;
  };
  const timeout = timeoutOf(type, header);
  const chunks = whileThere(request.body as AsyncIterable<Uint8Array>);
  const messages = framed ? checkFrames(chunks, compression, check) : checkOne(chunks, compression, check);
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

/** What a socket says when its client is gone is no failure of the server. */
async function* whileThere(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw new CairnError("aborted", "cannot read the message: the client went away", { cause });
  }
}

type Check = (bytes: Uint8Array) => Uint8Array;

async function* checkOne(
  chunks: AsyncIterable<Uint8Array>,
  compression: Compression | undefined,
  check: Check,
): AsyncGenerator<Uint8Array> {
  const collected: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limits.messageBytesMax) throw messageTooLarge();
    collected.push(chunk);
  }
  yield check(await decompressed(Buffer.concat(collected, size), compression));
}

async function* checkFrames(
  chunks: AsyncIterable<Uint8Array>,
  compression: Compression | undefined,
  check: Check,
): AsyncGenerator<Uint8Array> {
  const frames = new Frames();
  for await (const chunk of chunks) {
    frames.add(chunk);
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      const { flags, data } = frame;
      // Without a word on how, nobody can decompress it: the stack says so.
      if (isCompressed(flags) && compression === undefined) yield frameOf(flags, data);
      else {
        const plain = isCompressed(flags) ? await decompressed(data, compression) : data;
        yield frameOf(0, check(plain));
      }
    }
  }
  if (frames.pending) throw malformed("a frame that ends beyond its request");
}

async function decompressed(bytes: Uint8Array, compression: Compression | undefined): Promise<Uint8Array> {
  if (compression === undefined) return bytes;
  try {
    return await compression.decompress(bytes, limits.messageBytesMax);
  } catch (cause) {
    if (ConnectError.from(cause).code === Code.ResourceExhausted) throw messageTooLarge();
    throw malformed(`damaged ${compression.name} data`);
  }
}

async function* translated<T>(items: AsyncIterable<T>, onFailure: OnFailure): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (thrown) {
    throw toConnectError(thrown, onFailure);
  }
}
