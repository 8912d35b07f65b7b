import {
  CANCEL,
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  indexedField,
  PREFACE,
  uint32,
} from "#server/testing/frames.ts";
import type { Ask } from "./asks.ts";
import { declaredLength } from "./http1-bytes.ts";
import type { Random } from "./random.ts";

const DATA_BYTES_MAX = 16_384;
const WINDOW_BYTES_MAX = 0x7fff_ffff;
const INITIAL_WINDOW_SIZE = 4;
const NO_ERROR = 0;
const PROTOCOL_ERROR = 1;
const CODES = [NO_ERROR, NO_ERROR, CANCEL, PROTOCOL_ERROR];
/** Beyond it, a text needs a length of more than one byte. */
const SHORT_BYTES_MAX = 126;

export interface Http2Bytes {
  bytes: Buffer;
  streams: number[];
}

/** A whole connection: what comes first, and the streams with their frames in any order. */
export function writeHttp2(asks: readonly Ask[], scheme: "http" | "https", random: Random): Http2Bytes {
  const parts: Buffer[] = [PREFACE, settings(random)];
  if (random.chance(0.5)) parts.push(frame(FRAME.windowUpdate, 0, 0, uint32(WINDOW_BYTES_MAX - 65_535)));
  const streams = asks.map((_, i) => 2 * i + 1);
  const queues = asks.map((ask, i) => framesOf(ask, 2 * i + 1, scheme, random));
  // Heads first and in order, as stream numbers must rise; or each request whole.
  if (random.chance(0.5)) parts.push(...queues.flat());
  else {
    parts.push(...queues.map((queue) => queue.shift()!));
    for (let left = queues.filter((queue) => queue.length > 0); left.length > 0;) {
      parts.push(random.pick(left).shift()!);
      left = left.filter((queue) => queue.length > 0);
    }
  }
  return { bytes: Buffer.concat(parts), streams };
}

/** Ends streams one by one, as a client that destroys its session does: with any code, also the one for no error. */
export function writeResets(streams: readonly number[], random: Random): Buffer {
  const code = random.pick(CODES);
  const some = streams.filter(() => random.chance(0.8));
  return Buffer.concat(some.map((stream) => frame(FRAME.rstStream, 0, stream, uint32(code))));
}

export function writeGoaway(random: Random): Buffer {
  return frame(FRAME.goaway, 0, 0, Buffer.concat([uint32(0), uint32(random.pick(CODES))]));
}

/** With no window at all the server can answer with a head and nothing else. */
function settings(random: Random): Buffer {
  const size = random.pick([undefined, 0, WINDOW_BYTES_MAX]);
  if (size === undefined) return frame(FRAME.settings, 0, 0);
  return frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, INITIAL_WINDOW_SIZE]), uint32(size)]));
}

function framesOf(ask: Ask, stream: number, scheme: string, random: Random): Buffer[] {
  const { method, path, headers, body, extras } = ask;
  const isOpen = extras.includes("open end");
  const fields = [
    [":method", method],
    [":scheme", scheme],
    [":path", path],
    [":authority", "localhost"],
    ...headers,
  ] as (readonly [string, string])[];
  if (extras.some((extra) => extra.startsWith("length")) || random.chance(0.3)) {
    fields.push(["content-length", String(declaredLength(body.length, extras, random))]);
  }
  // Neither may be in a request over HTTP/2: the stream is malformed.
  if (extras.includes("connection close")) fields.push(["connection", "close"]);
  if (extras.includes("upgrade")) fields.push(["upgrade", "websocket"]);
  const ends = body.length === 0 && !isOpen;
  const block = Buffer.concat(fields.map(([name, value]) => headerField(name, value)));
  const frames = [frame(FRAME.headers, END_HEADERS | (ends ? END_STREAM : 0), stream, block)];
  for (let at = 0; at < body.length; at += DATA_BYTES_MAX) {
    const isLast = at + DATA_BYTES_MAX >= body.length;
    const flags = isLast && !isOpen ? END_STREAM : 0;
    frames.push(frame(FRAME.data, flags, stream, body.subarray(at, at + DATA_BYTES_MAX)));
  }
  // Data after the end of its stream.
  if (extras.includes("garbage after")) frames.push(frame(FRAME.data, 0, stream, random.bytes(20)));
  return frames;
}

function headerField(name: string, value: string): Buffer {
  return name.length <= SHORT_BYTES_MAX && value.length <= SHORT_BYTES_MAX
    ? field(name, value)
    : indexedField(name, value);
}
