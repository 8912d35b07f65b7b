import { statSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SearchLogRequestSchema, SearchLogResponseSchema } from "#proto/cairn/v1/log_pb.ts";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { openSqlite } from "#store/sqlite/open.ts";
import { createRun, grpcConnection, grpcSession, post } from "../client.ts";
import { noise } from "../fill.ts";
import type { Bench } from "../main.ts";
import { bytesPerPoint, quantile } from "../report.ts";
import { startServer, type BenchServer } from "../server.ts";

const WRITERS = 16;
const LINES_PER_ENVELOPE = 100;
const LEVELS = ["INFO", "INFO", "INFO", "DEBUG", "INFO", "WARNING"];

const thousands = (value: number) => `${Math.round(value / 1000)} k lines/s`;
const mebibytes = (value: number) => `${Math.round(value)} MiB/s`;

/** Lines of one run from sixteen ranks: how fast they are durable, how fast they are searched, what they cost at rest. */
export async function benchLogs({ report, directory, scale }: Bench): Promise<void> {
  const data = join(directory, "data");
  const server = await startServer(data);
  const warmUp = await createRun(server.url, "warm-up");
  await write(server, warmUp, 20);
  const run = await createRun(server.url, "log");
  const envelopes = Math.round((1_000_000 * scale) / WRITERS / LINES_PER_ENVELOPE);
  const lines = WRITERS * envelopes * LINES_PER_ENVELOPE;
  const { bytes, wallSeconds, cpuSeconds, latencies } = await write(server, run, envelopes);
  report.add({
    what: "log append, envelopes of 100 lines",
    value: lines / wallSeconds,
    format: thousands,
    better: "higher",
    notes: [
      `${WRITERS} writers by grpc, ${(bytes / lines).toFixed(0)} B a line`,
      `${thousands(lines / cpuSeconds)} per CPU-s`,
      `ack p50 ${quantile(latencies, 0.5).toFixed(1)} p99 ${quantile(latencies, 0.99).toFixed(1)} ms`,
    ].join(", "),
  });
  const cases = [
    { what: "log search, text", text: "loss=0.00000" },
    { what: "log search, text, ignoring case", text: "LOSS=0.00000", ignoreCase: true },
    { what: "log search, regex", regex: "rank=3 .*loss=0\\.0000\\d" },
    { what: "log search, regex without a literal", regex: "[0-9]{9}" },
  ];
  for (const { what, ...asked } of cases) {
    await search(server, run, asked);
    const began = performance.now();
    const { found, slowestMs, calls } = await search(server, run, asked);
    const seconds = (performance.now() - began) / 1000;
    report.add({
      what,
      value: bytes / 2 ** 20 / seconds,
      format: mebibytes,
      better: "higher",
      notes: `${found} of ${lines} lines in ${calls} calls, the slowest ${slowestMs.toFixed(0)} ms`,
    });
  }
  await server.stop();
  const store = await openSqlite({ directory: data, nowUs: () => Date.now() * 1000 });
  await store.settle();
  await store.close();
  report.add({
    what: "bytes per log line on disk",
    value: statSync(join(data, "cairn.db")).size / (lines + WRITERS * 20 * LINES_PER_ENVELOPE),
    format: bytesPerPoint,
    better: "lower",
    notes: `the whole file; ${(bytes / lines).toFixed(0)} B of text a line`,
  });
}

/** Envelopes are made before the clock starts; each writer has one request in flight. */
async function write(server: BenchServer, runId: string, envelopes: number) {
  const sessions = [grpcSession(server.url), grpcSession(server.url)];
  let bytes = 0;
  const bodies = Array.from({ length: WRITERS }, (_, rank) =>
    Array.from({ length: envelopes }, (__, n) => {
      const lines = Array.from({ length: LINES_PER_ENVELOPE }, (___, i) =>
        line(rank, n * LINES_PER_ENVELOPE + i),
      );
      for (const one of lines) bytes += one.length;
      const timesUs = lines.map((___, i) =>
        BigInt(1_767_225_600_000_000 + (n * LINES_PER_ENVELOPE + i) * 10_007),
      );
      const message = create(EnvelopeSchema, {
        run: { id: runId },
        writer: `rank-${rank}`,
        seq: BigInt(n + 1),
        log: [{ rank, lines, timesUs }],
      });
      return toBinary(EnvelopeSchema, message);
    }),
  );
  const latencies: number[] = [];
  const cpuBefore = server.cpuSeconds();
  const began = performance.now();
  await Promise.all(
    bodies.map(async (own, rank) => {
      const connection = grpcConnection(sessions[rank % sessions.length]!);
      for (const body of own) {
        const sent = performance.now();
        await connection.send(body);
        latencies.push(performance.now() - sent);
      }
    }),
  );
  const wallSeconds = (performance.now() - began) / 1000;
  const cpuSeconds = server.cpuSeconds() - cpuBefore;
  for (const session of sessions) session.close();
  return { bytes, wallSeconds, cpuSeconds, latencies };
}

/** About a hundred bytes, as a training loop writes them. */
function line(rank: number, i: number): string {
  const of = (salt: number) => noise(rank * 7_919 + i * 31 + salt);
  const level = LEVELS[Math.floor(of(1) * LEVELS.length)]!;
  const loss = of(2) ** 3;
  const time = new Date(1_767_225_600_000 + i * 10).toISOString();
  return `${time} ${level} trainer: rank=${rank} step=${i} loss=${loss.toFixed(6)} lr=0.0003 tok/s=${(of(3) * 9e4).toFixed(0)}`;
}

async function search(server: BenchServer, id: string, asked: { text?: string; regex?: string }) {
  let found = 0;
  let slowestMs = 0;
  let calls = 0;
  for (let from = 0n; ; calls++) {
    const request = create(SearchLogRequestSchema, { run: { id }, from, limit: 10_000, ...asked });
    const began = performance.now();
    const answer = await post(server.port, "LogService/SearchLog", toBinary(SearchLogRequestSchema, request));
    slowestMs = Math.max(slowestMs, performance.now() - began);
    const { lines, more, next } = fromBinary(SearchLogResponseSchema, answer);
    found += lines.length;
    if (!more) return { found, slowestMs, calls: calls + 1 };
    from = next;
  }
}
