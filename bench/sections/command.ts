import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildWeb } from "../../web/build.ts";
import { trackerFiles } from "../../tools/package/tracker-files.ts";
import { childrenCpuSeconds } from "../../tools/runner/run-suite.ts";
import type { Bench } from "../main.ts";
import { milliseconds } from "../report.ts";
import { startServer } from "../server.ts";

const ROUNDS = 20;

/** The processor time of commands of the installed package `cairn-tracker`, with compiled code in the cache. */
export async function benchCommand({ report, directory }: Bench): Promise<void> {
  const folder = join(directory, "package");
  await buildWeb();
  for (const [path, content] of await trackerFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const server = await startServer(join(directory, "data"));
  const command = join(folder, "bin", "cairn.cjs");
  const env = { PATH: process.env["PATH"], HOME: directory, CAIRN_SERVER: server.url };
  const run = (...words: string[]) => {
    const { status } = spawnSync(process.execPath, words, { env, stdio: "ignore" });
    if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}`);
  };
  const node = cpuMs(() => run("-e", "0"));
  report.add({
    what: "CPU of cairn --help, installed",
    value: cpuMs(() => run(command, "--help")),
    format: milliseconds,
    bar: 150,
    stretch: 100,
    better: "lower",
    notes: `Node alone ${milliseconds(node)}`,
  });
  // A call of a server that is not there ends where a real one would begin.
  const unreachable = cpuMs(() => {
    spawnSync(process.execPath, [command, "ls", "--server", "http://127.0.0.1:1"], { env, stdio: "ignore" });
  });
  report.add({
    what: "CPU of cairn ls, installed, until its first call",
    value: unreachable,
    format: milliseconds,
    bar: 150,
    stretch: 100,
    better: "lower",
    notes: `with its calls ${milliseconds(cpuMs(() => run(command, "ls")))}`,
  });
  await server.stop();
}

/** The average of some rounds, after one that fills the cache. */
function cpuMs(work: () => void): number {
  work();
  const before = childrenCpuSeconds() ?? Number.NaN;
  for (let round = 0; round < ROUNDS; round++) work();
  return (((childrenCpuSeconds() ?? Number.NaN) - before) * 1_000) / ROUNDS;
}
