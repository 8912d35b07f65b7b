import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../tools/sources.ts";
import { pythonCommand } from "../../tools/needs.ts";
import type { Bench } from "../main.ts";
import { milliseconds, quantile } from "../report.ts";
import { startServer } from "../server.ts";

const PROCESSES = 5;
const microseconds = (value: number) => `${value.toFixed(2)} µs`;

const CODE = `
import sys, time
begun = time.perf_counter()
import cairn
imported = time.perf_counter()
run = cairn.init(server=sys.argv[1], capture=False)
run.log({"a": 1.0})
first = time.perf_counter()
times = []
for i in range(int(sys.argv[2])):
    before = time.perf_counter_ns()
    run.log({"train/loss": float(i)})
    times.append(time.perf_counter_ns() - before)
times = sorted(times[len(times) // 10:])
print((imported - begun) * 1e3, (first - imported) * 1e3, times[len(times) // 2] / 1e3, times[len(times) * 99 // 100] / 1e3)
run.finish()
`;

/** The cost of logging for a job in Python, and of its start. */
export async function benchPython({ report, directory, scale }: Bench): Promise<void> {
  const server = await startServer(join(directory, "data"));
  // The first one compiles.
  const rows = Array.from({ length: PROCESSES + 1 }, () =>
    execFileSync(pythonCommand(), ["-c", CODE, server.url, String(100_000 * scale)], {
      encoding: "utf8",
      timeout: 120_000,
      env: {
        ...process.env,
        PYTHONPATH: join(ROOT, "sdk", "python"),
        CAIRN_SPOOL: join(directory, "spool"),
        // Compiled, as after pip install.
        PYTHONDONTWRITEBYTECODE: "",
        PYTHONPYCACHEPREFIX: join(directory, "compiled"),
      },
    })
      .trim()
      .split(" ")
      .map(Number),
  ).slice(1);
  await server.stop();
  const column = (i: number) =>
    quantile(
      rows.map((row) => row[i]!),
      0.5,
    );
  report.add({
    what: "Python: log(), 1 metric, p50",
    value: column(2),
    format: microseconds,
    bar: 5,
    stretch: 3,
    better: "lower",
    notes: `p99 ${microseconds(column(3))}, spool and collecting included`,
  });
  report.add({
    what: "Python: init() to the first log()",
    value: column(1),
    format: milliseconds,
    bar: 20,
    stretch: 10,
    better: "lower",
    notes: "with a server",
  });
  report.add({
    what: "Python: import cairn",
    value: column(0),
    format: milliseconds,
    bar: 50,
    stretch: 25,
    better: "lower",
    notes: "",
  });
}
