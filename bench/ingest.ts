import { mixSeries } from "#base/codec/testing/data-mix.ts";
import type { Points } from "#base/codec/points.ts";
import { connectConnection, createRun, grpcConnection, grpcSession, type Connection } from "./client.ts";
import { encodeEnvelope } from "./encode.ts";
import type { BenchServer } from "./server.ts";

export interface Load {
  writers: number;
  /** Series per run; each writer has a run of its own. */
  series: number;
  /** Points per envelope, spread over the series. */
  batchPoints: number;
  envelopesPerWriter: number;
  protocol: "grpc" | "connect";
}

export interface LoadResult {
  points: number;
  requests: number;
  wallSeconds: number;
  cpuSeconds: number;
  /** Milliseconds from sending to the answer, per request. */
  latencies: number[];
  runIds: string[];
}

/** Envelopes are made before the clock starts; each writer has one request in flight. */
export async function runLoad(server: BenchServer, load: Load): Promise<LoadResult> {
  const runIds = await Promise.all(
    Array.from({ length: load.writers }, (_, i) => createRun(server.url, `load-${i}`)),
  );
  const sessions = load.protocol === "grpc" ? [grpcSession(server.url), grpcSession(server.url)] : [];
  const connections: Connection[] = runIds.map((_, i) =>
    load.protocol === "grpc"
      ? grpcConnection(sessions[i % sessions.length]!)
      : connectConnection(server.port),
  );
  const bodies = runIds.map((runId, i) => [...envelopes(runId, i, load)]);
  const latencies: number[] = [];
  const cpuBefore = server.cpuSeconds();
  const began = performance.now();
  await Promise.all(
    connections.map(async (connection, i) => {
      for (const body of bodies[i]!) {
        const sent = performance.now();
        await connection.send(body);
        latencies.push(performance.now() - sent);
      }
    }),
  );
  const wallSeconds = (performance.now() - began) / 1000;
  const cpuSeconds = server.cpuSeconds() - cpuBefore;
  for (const connection of connections) connection.close();
  for (const session of sessions) session.close();
  const requests = load.writers * load.envelopesPerWriter;
  return { points: requests * load.batchPoints, requests, wallSeconds, cpuSeconds, latencies, runIds };
}

function* envelopes(runId: string, writer: number, load: Load): Generator<Uint8Array> {
  const perSeries = Math.max(1, load.batchPoints / load.series);
  const touched = Math.min(load.series, load.batchPoints);
  const rounds = Math.ceil((load.envelopesPerWriter * touched) / load.series);
  const all = Array.from({ length: load.series }, (_, i) => mixSeries(i, rounds * perSeries, writer + 1));
  for (let seq = 1; seq <= load.envelopesPerWriter; seq++) {
    const first = ((seq - 1) * touched) % load.series;
    const round = Math.floor(((seq - 1) * touched) / load.series);
    const series = Array.from({ length: touched }, (_, i) => ({
      key: `metric/${first + i}`,
      points: cut(all[first + i]!, round * perSeries, (round + 1) * perSeries),
    }));
    yield encodeEnvelope({ runId, writer: `w${writer}`, seq, series });
  }
}

function cut(points: Points, from: number, to: number): Points {
  return {
    count: to - from,
    steps: points.steps?.subarray(from, to),
    times: points.times?.subarray(from, to),
    nanos: undefined,
    values: { kind: "number", data: (points.values.data as Float64Array).subarray(from, to) },
  };
}
