import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { mixSeries } from "#base/codec/testing/data-mix.ts";
import { ReadGroupsRequestSchema, ReadGroupsResponseSchema } from "#proto/cairn/v1/metric_pb.ts";
import { call, connectConnection, post } from "../client.ts";
import { encodeEnvelope } from "../encode.ts";
import type { Bench } from "../main.ts";
import { milliseconds, quantile } from "../report.ts";
import { startServer, type BenchServer } from "../server.ts";

const RUNS = 100;
const POINTS = 10_000;
const GROUPS = 5;
const ROUNDS = 50;
/** Until code and caches are warm, as in a server that has been up for a minute. */
const WARM_UP = 20;

/** One metric of many runs, grouped by a param, with median and two quantiles, through the API. */
export async function benchGroups({ report, directory }: Bench): Promise<void> {
  const server = await startServer(`${directory}/data`);
  await fill(server);
  for (const { buckets, bar, stretch } of [
    { buckets: 200, bar: 200, stretch: 50 },
    { buckets: 1_000, bar: 200, stretch: 75 },
  ]) {
    const latencies: number[] = [];
    let cpuBefore = 0;
    for (let i = 0; i < WARM_UP + ROUNDS; i++) {
      if (i === WARM_UP) cpuBefore = server.cpuSeconds();
      const began = performance.now();
      await read(server, buckets);
      if (i >= WARM_UP) latencies.push(performance.now() - began);
    }
    const cpuMs = ((server.cpuSeconds() - cpuBefore) * 1000) / ROUNDS;
    report.add({
      what: `groups ${RUNS} x ${POINTS / 1000}k points -> ${buckets}, p50`,
      value: quantile(latencies, 0.5),
      format: milliseconds,
      bar,
      stretch,
      better: "lower",
      notes: `p95 ${quantile(latencies, 0.95).toFixed(1)} ms, server CPU ${cpuMs.toFixed(1)} ms, ${GROUPS} groups`,
    });
  }
  await server.stop();
}

async function read(server: BenchServer, buckets: number): Promise<void> {
  const wanted = create(ReadGroupsRequestSchema, {
    namespace: "bench",
    groupBy: ["params.lr"],
    key: "loss",
    buckets,
    quantiles: [0.25, 0.75],
  });
  const answer = await post(
    server.port,
    "MetricService/ReadGroups",
    toBinary(ReadGroupsRequestSchema, wanted),
  );
  const { groups } = fromBinary(ReadGroupsResponseSchema, answer);
  const points = groups.reduce((sum, { pointCount }) => sum + Number(pointCount), 0);
  if (groups.length !== GROUPS || points !== RUNS * POINTS) {
    throw new Error(`${groups.length} groups of ${points} points came back`);
  }
}

async function fill(server: BenchServer): Promise<void> {
  const connection = connectConnection(server.port);
  for (let i = 0; i < RUNS; i++) {
    const { run } = await call<{ run: { id: string } }>(server.url, "RunService/CreateRun", {
      namespace: "bench",
      params: { lr: `0.${(i % GROUPS) + 1}` },
    });
    const series = [{ key: "loss", points: mixSeries(i, POINTS, 7) }];
    await connection.send(encodeEnvelope({ runId: run.id, writer: "bench", seq: 1, series }));
  }
  connection.close();
}
