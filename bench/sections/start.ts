import { fillRuns } from "../fill.ts";
import type { Bench } from "../main.ts";
import { megabytes, seconds } from "../report.ts";
import { startServer } from "../server.ts";

/** From the command to the line with its address. */
export async function benchStart({ report, directory, scale }: Bench): Promise<void> {
  const empty = await startServer(`${directory}/empty`);
  await empty.stop();
  const again = await startServer(`${directory}/empty`);
  report.add({
    what: "start to ready, empty",
    value: again.startMs / 1000,
    format: seconds,
    bar: 1,
    stretch: 0.5,
    better: "lower",
    notes: `first start ${(empty.startMs / 1000).toFixed(2)} s`,
  });
  await again.stop();
  fillRuns(`${directory}/full`, 100_000 * scale, 100);
  const full = await startServer(`${directory}/full`);
  report.add({
    what: "start to ready, 100k runs and 100M points",
    value: full.startMs / 1000,
    format: seconds,
    bar: 5,
    stretch: 2,
    better: "lower",
    notes: `${megabytes(full.rssBytes())} after the start; every run was read from the store`,
  });
  await full.stop();
  const fromSnapshot = await startServer(`${directory}/full`);
  report.add({
    what: "start to ready, the same after a stop",
    value: fromSnapshot.startMs / 1000,
    format: seconds,
    better: "lower",
    notes: `${megabytes(fromSnapshot.rssBytes())} after the start`,
  });
  await fromSnapshot.stop();
}
