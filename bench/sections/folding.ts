import { runLoad } from "../ingest.ts";
import type { Bench } from "../main.ts";
import { megabytes, milliseconds, millions, quantile } from "../report.ts";
import { startServer } from "../server.ts";

/** How long an acknowledgement takes while the log is being folded, with ten thousand active series. */
export async function benchFolding({ report, directory, scale }: Bench): Promise<void> {
  const server = await startServer(`${directory}/data`);
  const load = { writers: 10, series: 1000, batchPoints: 1000, protocol: "grpc" } as const;
  await runLoad(server, { ...load, envelopesPerWriter: 50 });
  // Enough to fold several times over.
  const done = await runLoad(server, { ...load, envelopesPerWriter: Math.round(1000 * scale) });
  report.add({
    what: "ack p99 while folding, 10k active series",
    value: quantile(done.latencies, 0.99),
    format: milliseconds,
    bar: 100,
    stretch: 30,
    better: "lower",
    notes: [
      `p50 ${quantile(done.latencies, 0.5).toFixed(1)} max ${quantile(done.latencies, 1).toFixed(0)} ms`,
      `${load.writers} writers at ${millions(done.points / done.wallSeconds)}`,
      megabytes(server.rssBytes()),
    ].join(", "),
  });
  await server.stop();
}
