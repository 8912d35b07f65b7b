import { fromBinary, toBinary, create } from "@bufbuild/protobuf";
import { mixSeries } from "#base/codec/testing/data-mix.ts";
import { ReadSeriesRequestSchema, ReadSeriesResponseSchema } from "#proto/cairn/v1/metric_pb.ts";
import { connectConnection, createRun, post } from "../client.ts";
import { encodeEnvelope } from "../encode.ts";
import type { Bench } from "../main.ts";
import { milliseconds, quantile } from "../report.ts";
import { startServer, type BenchServer } from "../server.ts";

const ROUNDS = 150;
/** Until code and caches are warm, as in a server that has been up for a minute. */
const WARM_UP = 100;

/** Reading through the API, answers decoded to typed columns, with a warm page cache. */
export async function benchReads({ report, directory }: Bench): Promise<void> {
  const server = await startServer(`${directory}/data`);
  const long = await createRun(server.url, "long");
  await log(server, long, "long", [["loss", 100_000]]);
  const huge = await createRun(server.url, "huge");
  await log(server, huge, "huge", [["loss", 1_000_000]]);
  const wide = await createRun(server.url, "wide");
  const names = Array.from({ length: 100 }, (_, i) => `m${i}`);
  await log(
    server,
    wide,
    "wide",
    names.map((name) => [name, 10_000]),
  );
  const cases = [
    { what: "read 1 x 100k points, p50", run: long, keys: ["loss"], buckets: 0, bar: 10, stretch: 5 },
    { what: "read 100 x 10k points, p50", run: wide, keys: names, buckets: 0, bar: 100, stretch: 50 },
    { what: "band 1M -> 2,000, p50", run: huge, keys: ["loss"], buckets: 2000, bar: 15, stretch: 8 },
    { what: "band 100 x 10k -> 1,000, p50", run: wide, keys: names, buckets: 1000 },
  ];
  for (const { what, run, keys, buckets, bar, stretch } of cases) {
    const latencies: number[] = [];
    let cpuBefore = 0;
    for (let i = 0; i < WARM_UP + ROUNDS; i++) {
      if (i === WARM_UP) cpuBefore = server.cpuSeconds();
      const began = performance.now();
      await read(server, run, keys, buckets);
      if (i >= WARM_UP) latencies.push(performance.now() - began);
    }
    const cpuMs = ((server.cpuSeconds() - cpuBefore) * 1000) / ROUNDS;
    report.add({
      what,
      value: quantile(latencies, 0.5),
      format: milliseconds,
      ...(bar !== undefined && { bar }),
      ...(stretch !== undefined && { stretch }),
      better: "lower",
      notes: `p95 ${quantile(latencies, 0.95).toFixed(1)} ms, server CPU ${cpuMs.toFixed(1)} ms`,
    });
  }
  await server.stop();
}

async function read(
  server: BenchServer,
  id: string,
  keys: readonly string[],
  buckets: number,
): Promise<void> {
  const series = keys.map((key) => ({ run: { id }, key }));
  const wanted = create(ReadSeriesRequestSchema, { series, buckets });
  const answer = await post(
    server.port,
    "MetricService/ReadSeries",
    toBinary(ReadSeriesRequestSchema, wanted),
  );
  const found = fromBinary(ReadSeriesResponseSchema, answer).series.length;
  if (found !== keys.length) throw new Error(`${found} of ${keys.length} series came back`);
}

async function log(
  server: BenchServer,
  runId: string,
  writer: string,
  series: readonly (readonly [key: string, count: number])[],
): Promise<void> {
  const connection = connectConnection(server.port);
  let seq = 0;
  for (const [i, [key, count]] of series.entries()) {
    const all = mixSeries(i, count, 7);
    for (let from = 0; from < count; from += 50_000) {
      const to = Math.min(count, from + 50_000);
      const points = {
        count: to - from,
        steps: all.steps!.subarray(from, to),
        times: all.times!.subarray(from, to),
        nanos: undefined,
        values: { kind: "number", data: (all.values.data as Float64Array).subarray(from, to) },
      } as const;
      await connection.send(encodeEnvelope({ runId, writer, seq: ++seq, series: [{ key, points }] }));
    }
  }
  connection.close();
}
