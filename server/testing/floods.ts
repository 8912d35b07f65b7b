import { CANCEL, END_HEADERS, END_STREAM, field, FRAME, frame, requestFields, uint32 } from "./frames.ts";

export const GET = requestFields("GET", "/");
const POST = requestFields("POST", "/");
const WINDOW_MAX = 0x7fff_ffff;

export function many(count: number, make: (at: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));
}

/** A frame on each of many streams that have just begun. */
function onStreams(count: number, make: (stream: number) => Buffer): Buffer {
  return many(count, (at) => {
    const stream = 2 * at + 1;
    return Buffer.concat([frame(FRAME.headers, END_HEADERS, stream, POST), make(stream)]);
  });
}

const SETTINGS_ENTRIES = Buffer.concat(
  Array.from({ length: 200 }, () => Buffer.from([0, 4, 0, 0, 255, 255])),
);
const ACK = 1;

/** Floods that an HTTP/2 client may send, by name. Each ends in a closed connection. */
export const FLOODS: readonly (readonly [name: string, bytes: () => Buffer])[] = [
  [
    "streams that are reset as soon as they have begun",
    () => onStreams(1_000, (stream) => frame(FRAME.rstStream, 0, stream, uint32(CANCEL))),
  ],
  [
    "CONTINUATION frames without end",
    () => {
      const more = frame(FRAME.continuation, 0, 1, field("x-a", "b".repeat(100)));
      return Buffer.concat([frame(FRAME.headers, END_STREAM, 1, GET), many(1_000, () => more)]);
    },
  ],
  [
    "empty CONTINUATION frames",
    () => {
      const more = frame(FRAME.continuation, 0, 1);
      return Buffer.concat([frame(FRAME.headers, END_STREAM, 1, GET), many(20_000, () => more)]);
    },
  ],
  ["SETTINGS with many entries", () => many(1_000, () => frame(FRAME.settings, 0, 0, SETTINGS_ENTRIES))],
  ["empty SETTINGS", () => many(20_000, () => frame(FRAME.settings, 0, 0))],
  ["acknowledgements of SETTINGS that were not sent", () => many(1_000, () => frame(FRAME.settings, ACK, 0))],
  ["PING frames", () => many(20_000, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
  [
    "PRIORITY frames of unknown streams",
    () => many(20_000, (at) => frame(FRAME.priority, 0, 2 * at + 1, Buffer.alloc(5))),
  ],
  [
    "empty DATA frames",
    () => {
      const empty = frame(FRAME.data, 0, 1);
      return Buffer.concat([frame(FRAME.headers, END_HEADERS, 1, POST), many(20_000, () => empty)]);
    },
  ],
  [
    "a window of the connection above all limits",
    () => many(2, () => frame(FRAME.windowUpdate, 0, 0, uint32(WINDOW_MAX))),
  ],
  // Each makes the server reset a stream that it has begun to work on.
  [
    "windows of streams above all limits",
    () => onStreams(500, (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(WINDOW_MAX))),
  ],
  [
    "window updates of zero",
    () => onStreams(500, (stream) => frame(FRAME.windowUpdate, 0, stream, uint32(0))),
  ],
  ["a frame larger than allowed", () => frame(FRAME.data, 0, 1, Buffer.alloc(1 << 20))],
  ["a frame of a stream that was never opened", () => frame(FRAME.data, END_STREAM, 7, Buffer.from("x"))],
];
