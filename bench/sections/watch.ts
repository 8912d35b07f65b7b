import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { WatchRequestSchema } from "#proto/cairn/v1/watch_pb.ts";
import { connectConnection, createRun, grpcSession, type Connection } from "../client.ts";
import { encodeEnvelope } from "../encode.ts";
import type { Bench } from "../main.ts";
import { milliseconds, quantile } from "../report.ts";
import { startServer, type BenchServer } from "../server.ts";

const WRITERS = 4;
const SERIES = 10;
/** Between two envelopes of a writer, so that the bench itself leaves processor time for the server. */
const PAUSE_MS = 2;
const STREAMS_PER_SESSION = 100;
const BAR_MS = 300;
const LATE_MS = 20_000;
const MARK_BYTES = 16;

type Asked = MessageInitShape<typeof WatchRequestSchema>;
type Said = MessageInitShape<typeof EnvelopeSchema>;

/** From the acknowledgement of a change to its event, while other runs are being written. */
export async function benchWatch({ report, directory, scale }: Bench): Promise<void> {
  const server = await startServer(`${directory}/data`);
  const run = { id: await createRun(server.url, "probe") };
  const load = await startLoad(server);
  const kinds: [what: string, asked: Asked, said: (mark: string) => Said][] = [
    ["runs", { runs: { columns: ["tags", "metrics.metric/0.last"] } }, (mark) => ({ run, tags: { mark } })],
    [
      "points",
      { series: [{ run }, { run: { id: load.runId } }] },
      (mark) => ({ run, series: [{ key: mark, values: [1] }] }),
    ],
    ["lines", { logs: [{ run }] }, (mark) => ({ run, log: [{ lines: [mark] }] })],
  ];
  for (const [what, asked, said] of kinds) {
    for (const watchers of [1, 100]) {
      const before = { sent: load.sent(), cpu: server.cpuSeconds(), ms: performance.now() };
      const latencies = await measure(server, {
        watchers,
        asked,
        probes: Math.round(200 * scale),
        said,
      });
      const seconds = (performance.now() - before.ms) / 1000;
      report.add({
        what: `watch, ${what} to ${watchers} ${watchers === 1 ? "watcher" : "watchers"}, p99`,
        value: quantile(latencies, 0.99),
        format: milliseconds,
        bar: BAR_MS,
        stretch: 100,
        better: "lower",
        notes: [
          `p50 ${quantile(latencies, 0.5).toFixed(0)} ms, ${latencies.length} events`,
          `beside ${Math.round((load.sent() - before.sent) / seconds)} envelopes/s`,
          `server ${Math.round((100 * (server.cpuSeconds() - before.cpu)) / seconds)} % CPU`,
        ].join(", "),
      });
    }
  }
  await load.stop();
  await server.stop();
}

interface Measured {
  watchers: number;
  asked: Asked;
  probes: number;
  said(mark: string): Said;
}

/** Milliseconds per probe and watcher; 0 for an event that came before the acknowledgement. */
async function measure(server: BenchServer, { watchers, asked, probes, said }: Measured): Promise<number[]> {
  const sessions: ClientHttp2Session[] = [];
  const streams: ClientHttp2Stream[] = [];
  const seen = new Map<string, { at: number[]; all: PromiseWithResolvers<void> }>();
  const listener = (): ((chunk: Buffer) => void) => {
    // A mark may arrive in two pieces; a complete one is not in a tail.
    let tail: Buffer = Buffer.alloc(0);
    return (chunk) => {
      const nowMs = performance.now();
      const both = Buffer.concat([tail, chunk]);
      for (const [mark, { at, all }] of seen) {
        if (both.indexOf(mark) >= 0 && at.push(nowMs) === watchers) all.resolve();
      }
      tail = both.subarray(Math.max(0, both.length - MARK_BYTES + 1));
    };
  };
  for (let i = 0; i < watchers; i++) {
    if (i % STREAMS_PER_SESSION === 0) sessions.push(grpcSession(server.url));
    streams.push(await watch(sessions.at(-1)!, asked, listener()));
  }
  const writer = connectConnection(server.port);
  const latencies: number[] = [];
  for (let i = 0; i < probes; i++) {
    const mark = randomBytes(MARK_BYTES / 2).toString("hex");
    const received = { at: [] as number[], all: Promise.withResolvers<void>() };
    seen.set(mark, received);
    await writer.send(toBinary(EnvelopeSchema, create(EnvelopeSchema, said(mark))));
    const ackMs = performance.now();
    const late = setTimeout(() => {
      received.all.reject(
        new Error(`${received.at.length} of ${watchers} watchers got the event in ${LATE_MS} ms`),
      );
    }, LATE_MS);
    await received.all.promise;
    clearTimeout(late);
    seen.delete(mark);
    latencies.push(...received.at.map((atMs) => Math.max(0, atMs - ackMs)));
    // Probes must not synchronize with the waves.
    await pause(Math.random() * 30);
  }
  writer.close();
  for (const stream of streams) stream.close();
  for (const session of sessions) session.destroy();
  return latencies;
}

/** Over gRPC, and without decoding: a browser or a program does that on another machine. */
async function watch(
  session: ClientHttp2Session,
  asked: Asked,
  onData: (chunk: Buffer) => void,
): Promise<ClientHttp2Stream> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/cairn.v1.WatchService/Watch",
    "content-type": "application/grpc",
    te: "trailers",
  });
  const request = toBinary(WatchRequestSchema, create(WatchRequestSchema, asked));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(request.length, 1);
  stream.end(Buffer.concat([head, request]));
  stream.on("error", () => {});
  // The first piece confirms the watch.
  await once(stream, "data");
  stream.on("data", onData);
  return stream;
}

/** Writers of small envelopes, each with a run of its own. */
async function startLoad(
  server: BenchServer,
): Promise<{ runId: string; sent(): number; stop(): Promise<void> }> {
  const runIds = await Promise.all(
    Array.from({ length: WRITERS }, (_, i) => createRun(server.url, `load-${i}`)),
  );
  const connections: Connection[] = runIds.map(() => connectConnection(server.port));
  const state = { sent: 0, stopped: false };
  const writing = connections.map(async (connection, writer) => {
    for (let seq = 1; !state.stopped; seq++) {
      const series = Array.from({ length: SERIES }, (_, i) => ({
        key: `metric/${i}`,
        points: onePoint(seq),
      }));
      await connection.send(encodeEnvelope({ runId: runIds[writer]!, writer: "w", seq, series }));
      state.sent++;
      await pause(PAUSE_MS);
    }
  });
  return {
    runId: runIds[0]!,
    sent: () => state.sent,
    stop: async () => {
      state.stopped = true;
      await Promise.all(writing);
      for (const connection of connections) connection.close();
    },
  };
}

function onePoint(seq: number) {
  return {
    count: 1,
    steps: Float64Array.of(seq),
    times: Float64Array.of(Date.now() * 1000),
    nanos: undefined,
    values: { kind: "number" as const, data: Float64Array.of(Math.sin(seq)) },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
