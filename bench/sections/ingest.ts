import { setTimeout } from "node:timers/promises";
import { rowPerPoint } from "../baseline.ts";
import { runLoad, type Load } from "../ingest.ts";
import type { Bench } from "../main.ts";
import { bytesPerPoint, megabytes, millions, perSecond, quantile } from "../report.ts";
import { startServer } from "../server.ts";

/** By then the garbage of the start is collected. */
const IDLE_MS = 3_000;

/** Durable ingest through the API, at three sizes of envelope, beside one row per point in SQLite. */
export async function benchIngest({ report, directory, scale }: Bench): Promise<void> {
  const baseline = rowPerPoint(directory, 400_000 * scale);
  const basePerCpu = baseline.points / baseline.cpuSeconds;
  report.add({
    what: "baseline: one row per point, SQLite",
    value: baseline.points / baseline.wallSeconds,
    format: millions,
    better: "higher",
    notes: `${millions(basePerCpu)} per CPU-s, ${bytesPerPoint(baseline.bytesPerPoint)} per point`,
  });
  const server = await startServer(`${directory}/data`);
  await setTimeout(IDLE_MS);
  report.add({
    what: "memory idle",
    value: server.rssBytes(),
    format: megabytes,
    bar: 200 << 20,
    stretch: 130 << 20,
    better: "lower",
  });
  const run = async (what: string, load: Load) => {
    const done = await runLoad(server, load);
    const perCpu = done.points / done.cpuSeconds;
    const notes = [
      `${load.writers} writers by ${load.protocol}`,
      `${millions(perCpu)} points per CPU-s (${(perCpu / basePerCpu).toFixed(1)}x baseline)`,
      `ack p50 ${quantile(done.latencies, 0.5).toFixed(1)} p99 ${quantile(done.latencies, 0.99).toFixed(1)} ms`,
    ].join(", ");
    return { what, done, notes };
  };
  const tiny: Load = {
    writers: 32,
    series: 10,
    batchPoints: 10,
    envelopesPerWriter: Math.round(1500 * scale),
    protocol: "grpc",
  };
  const warmUp = { ...tiny, envelopesPerWriter: 100 };
  await runLoad(server, warmUp);
  await runLoad(server, { ...warmUp, protocol: "connect" });
  for (const protocol of ["grpc", "connect"] as const) {
    const { what, done, notes } = await run(`ingest, 10-point envelopes, ${protocol}`, { ...tiny, protocol });
    const value = done.requests / done.wallSeconds;
    report.add({ what, value, format: perSecond, bar: 2500, stretch: 4000, better: "higher", notes });
  }
  for (const protocol of ["grpc", "connect"] as const) {
    const load: Load = {
      writers: 16,
      series: 100,
      batchPoints: 1000,
      envelopesPerWriter: Math.round(400 * scale),
      protocol,
    };
    const { what, done, notes } = await run(`ingest, 1k-point envelopes, ${protocol}`, load);
    const value = done.points / done.wallSeconds;
    report.add({ what, value, format: millions, bar: 1e6, stretch: 2e6, better: "higher", notes });
  }
  for (const protocol of ["grpc", "connect"] as const) {
    const load: Load = {
      writers: 8,
      series: 10,
      batchPoints: 10_000,
      envelopesPerWriter: Math.round(150 * scale),
      protocol,
    };
    const { what, done, notes } = await run(`ingest, 10k-point envelopes, ${protocol}`, load);
    const value = done.points / done.wallSeconds;
    report.add({ what, value, format: millions, bar: 3e6, stretch: 5e6, better: "higher", notes });
  }
  await server.stop();
  await benchMemory({ report, directory, scale });
}

/** One server, a thousand series, and nothing else before: the peak memory during the load. */
async function benchMemory({ report, directory, scale }: Bench): Promise<void> {
  const server = await startServer(`${directory}/memory`);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, server.rssBytes())), 50);
  const load = { writers: 10, series: 100, batchPoints: 1000, protocol: "grpc" } as const;
  await runLoad(server, { ...load, envelopesPerWriter: Math.round(500 * scale) });
  clearInterval(watch);
  report.add({
    what: "memory, 1k active series under full load",
    value: most,
    format: megabytes,
    bar: 450 << 20,
    stretch: 250 << 20,
    better: "lower",
    notes: `${load.writers} writers by ${load.protocol}`,
  });
  await server.stop();
}
