import { statSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "#store/sqlite/open.ts";
import { runLoad } from "../ingest.ts";
import type { Bench } from "../main.ts";
import { bytesPerPoint } from "../report.ts";
import { startServer } from "../server.ts";

/** The size of a point on disk once the log is folded: the whole file, indexes and ledger included. */
export async function benchSize({ report, directory, scale }: Bench): Promise<void> {
  const data = join(directory, "data");
  const server = await startServer(data);
  const load = { writers: 4, series: 250, batchPoints: 10_000, protocol: "connect" } as const;
  const { points } = await runLoad(server, { ...load, envelopesPerWriter: Math.round(250 * scale) });
  await server.stop();
  const store = await openSqlite({ directory: data, nowUs: () => Date.now() * 1000 });
  await store.settle();
  await store.close();
  report.add({
    what: "bytes per point on disk, ML mix",
    value: statSync(join(data, "cairn.db")).size / points,
    format: bytesPerPoint,
    bar: 4.5,
    stretch: 3.2,
    better: "lower",
    notes: `${(points / 1e6).toFixed(1)} M points in 1,000 series`,
  });
}
