import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Cairn } from "#sdk/client.ts";
import { init } from "#sdk/run/init.ts";
import { sync } from "#sdk/sync.ts";
import type { Bench } from "../main.ts";
import { milliseconds, perSecond, quantile } from "../report.ts";
import { startServer } from "../server.ts";

const SDK = new URL("../../sdk/typescript/index.ts", import.meta.url).href;
const microseconds = (value: number) => `${value.toFixed(2)} µs`;

/** The cost of logging for a job, and how fast a spool is delivered. */
export async function benchClient({ report, directory, scale }: Bench): Promise<void> {
  const spool = join(directory, "spool");
  const server = await startServer(join(directory, "data"));
  const options = {
    server: server.url,
    spool,
    capture: false,
    handleExit: false,
    offline: true,
    tell: () => {},
  };
  const one = await init(options);
  const timesOne = measure(200_000 * scale, (i) => one.log({ "train/loss": i }));
  const ten = await init(options);
  const timesTen = measure(50_000 * scale, (i) =>
    ten.log({ a: i, b: i, c: i, d: i, e: i, f: i, g: i, h: i, i, j: i }),
  );
  for (const [what, times, bar, stretch] of [
    ["log(), 1 metric", timesOne, 2, 1],
    ["log(), 10 metrics", timesTen, 10, 5],
  ] as const) {
    report.add({
      what: `${what}, p50`,
      value: quantile(times, 0.5),
      format: microseconds,
      bar,
      stretch,
      better: "lower",
      notes: `p99 ${microseconds(quantile(times, 0.99))}, most ${microseconds(Math.max(...chunkMax(times)))}, spool and collecting included`,
    });
  }
  await one.finish();
  await ten.finish();
  const points = 200_000 * scale + 10 * 50_000 * scale;
  const began = performance.now();
  await sync(spool, { connect: async (url) => new Cairn({ url }), evenIfAlive: true });
  const seconds = (performance.now() - began) / 1000;
  report.add({
    what: "drain of a spool, points",
    value: points / seconds,
    format: perSecond,
    bar: 50_000,
    stretch: 200_000,
    better: "higher",
    notes: `${points} points in envelopes of 1,000`,
  });
  benchStart({ report, directory, scale }, server.url, spool);
  await server.stop();
}

/** A whole process: how long a job waits before its first step. */
function benchStart({ report }: Bench, url: string, spool: string): void {
  const code = `
    const { init } = await import("${SDK}");
    const loaded = performance.now();
    const run = await init({ server: "${url}", spool: "${spool}", capture: false });
    run.log({ a: 1 });
    console.log(performance.now() - loaded, loaded);
    await run.finish();`;
  const inits: number[] = [];
  const loads: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      encoding: "utf8",
      timeout: 60_000,
    });
    const [initMs, loadedMs] = stdout.trim().split(" ").map(Number);
    inits.push(initMs!);
    loads.push(loadedMs!);
  }
  report.add({
    what: "init() to the first log()",
    value: quantile(inits, 0.5),
    format: milliseconds,
    bar: 200,
    stretch: 50,
    better: "lower",
    notes: `with a server; the client is loaded ${milliseconds(quantile(loads, 0.5))} after the process began`,
  });
}

/** Microseconds of each call; the first tenth warms up. */
function measure(calls: number, call: (i: number) => void): number[] {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const before = performance.now();
    call(i);
    const taken = performance.now() - before;
    if (i >= calls / 10) times.push(taken * 1000);
  }
  return times;
}

/** The largest of each stretch: more than Math.max takes arguments for at once. */
function chunkMax(times: readonly number[]): number[] {
  const most: number[] = [];
  for (let i = 0; i < times.length; i += 10_000) most.push(Math.max(...times.slice(i, i + 10_000)));
  return most;
}
