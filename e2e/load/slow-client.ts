import { connect, type Socket } from "node:net";
import { create, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { TailLogRequestSchema } from "#proto/cairn/v1/log_pb.ts";
import { ReadSeriesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import { WatchRequestSchema } from "#proto/cairn/v1/watch_pb.ts";
import {
  END_HEADERS,
  END_STREAM,
  field,
  FRAME,
  frame,
  parseFrames,
  PREFACE,
  requestFields,
  uint32,
} from "#server/testing/frames.ts";
import { frame as message } from "#wire/connect/testing/raw-call.ts";

const METRICS = "/cairn.v1.MetricService";
const WRITE = `${METRICS}/WriteEnvelope`;
/** How far ahead a server may send to a client that does not read: hardly at all. */
const WINDOW_BYTES = 1_024;
const INITIAL_WINDOW_SIZE = 4;

const HTTP1_POST = `POST ${WRITE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/proto\r\n`;
const SMALL_WINDOW = frame(
  FRAME.settings,
  0,
  0,
  Buffer.concat([Buffer.from([0, INITIAL_WINDOW_SIZE]), uint32(WINDOW_BYTES)]),
);
const HELLO = Buffer.concat([PREFACE, SMALL_WINDOW]);

/** A client that holds a place. */
export interface SlowClient {
  /** What it says at once. */
  first: Buffer | string;
  /** What it says after that, one byte at a time; undefined for one that says no more and does not read. */
  rest?: Buffer;
  /** As DATA frames of one byte. */
  framed?: boolean;
}

/** Those that send: the first bytes, the headers or the body come one byte at a time. */
export const SLOW_SENDERS: Readonly<Record<string, SlowClient>> = {
  "HTTP/1 headers": { first: `${HTTP1_POST}X-Slow: `, rest: Buffer.alloc(4_096, "a") },
  "HTTP/1 body": { first: `${HTTP1_POST}Content-Length: 100000\r\n\r\n`, rest: Buffer.alloc(4_096, "a") },
  "HTTP/2 preface": { first: "", rest: PREFACE },
  "HTTP/2 headers": { first: HELLO, rest: headers(1, `/${"a".repeat(120)}`) },
  "HTTP/2 body": {
    first: Buffer.concat([HELLO, headers(1, WRITE)]),
    rest: Buffer.alloc(4_096),
    framed: true,
  },
};

/** Clients that request a lot and do not read the answer. */
export function stalledReaders(runId: string, key: string): Readonly<Record<string, SlowClient>> {
  const run = { id: runId };
  return {
    Watch: {
      first: call("/cairn.v1.WatchService/Watch", WatchRequestSchema, {
        runs: { query: "" },
        series: [{ run, glob: "**" }],
        logs: [{ run, from: 0n }],
      }),
    },
    TailLog: {
      first: call("/cairn.v1.LogService/TailLog", TailLogRequestSchema, { run, from: 0n, follow: true }),
    },
    ReadSeries: {
      first: call(`${METRICS}/ReadSeries`, ReadSeriesRequestSchema, { series: [{ run, key }] }),
    },
  };
}

function headers(stream: number, path: string): Buffer {
  const fields = Buffer.concat([
    requestFields("POST", path),
    field("content-type", "application/grpc+proto"),
    field("te", "trailers"),
  ]);
  return frame(FRAME.headers, END_HEADERS, stream, fields);
}

function call<D extends DescMessage>(path: string, desc: D, init: MessageInitShape<D>): Buffer {
  const body = message(toBinary(desc, create(desc, init)));
  return Buffer.concat([HELLO, headers(1, path), frame(FRAME.data, END_STREAM, 1, body)]);
}

/** Begins one; `onClosed` is called when the server has closed its connection or reset its stream. */
export function startSlow(port: number, client: SlowClient, byteMs: number, onClosed: () => void): Socket {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;
  let sent = 0;
  socket.on("error", () => {});
  socket.on("connect", () => {
    socket.write(client.first);
    const { rest, framed } = client;
    if (rest === undefined) return;
    timer = setInterval(() => {
      // The last byte never comes.
      if (sent >= rest.length - 1) return;
      const byte = rest.subarray(sent, ++sent);
      socket.write(framed === true ? frame(FRAME.data, 0, 1, byte) : byte);
    }, byteMs);
  });
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (parseFrames(received).some(({ type }) => type === FRAME.rstStream)) socket.destroy();
  });
  socket.on("close", () => {
    clearInterval(timer);
    onClosed();
  });
  return socket;
}
