import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";

const SDK = new URL("../../sdk/typescript/index.ts", import.meta.url).href;
/** For the environment of jobs: half of what it takes to start one is compiling the SDK. */
export const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/cairn-jobs", import.meta.url)),
};
const JOB_MS_MAX = 240_000;

export interface JobOptions {
  env?: NodeJS.ProcessEnv;
  /** A command that runs it, with its arguments. */
  through?: readonly string[];
}

/** A training job in a separate process. */
export interface Job {
  readonly child: ChildProcess;
  /** Lines it has printed so far. */
  readonly lines: string[];
  readonly stderr: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Runs JavaScript that has `init` and the rest of the SDK as `cairn`. Nothing of our environment but the path. */
export function startJob(code: string, { env = {}, through = [] }: JobOptions = {}): Job {
  const node = [process.execPath, "--input-type=module", "-e", `import * as cairn from "${SDK}";\n${code}`];
  const [command, ...args] = [...through, ...node];
  const child = spawn(command!, args, {
    env: { PATH: process.env["PATH"], ...COMPILED, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: JOB_MS_MAX,
    killSignal: "SIGKILL",
  });
  const lines: string[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const pieces = (rest + text).split("\n");
    rest = pieces.pop()!;
    lines.push(...pieces);
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = once(child, "close").then(([exitCode, signal]) => ({
    code: exitCode as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return { child, lines, stderr: () => stderr, exited };
}

export interface World {
  readonly server: ChildServer;
  readonly client: Cairn;
  /** Of this test file alone. */
  readonly folder: string;
  readonly spool: string;
}

/** One server for a test file, and a spool. */
export function useWorld(flags: readonly string[] = ["--data", "memory:"]): World {
  const folder = mkdtempSync(join(tmpdir(), "cairn-sdk-"));
  let server: ChildServer;
  let client: Cairn;
  beforeAll(async () => {
    server = await startChild(flags);
    client = new Cairn({ url: server.url });
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    folder,
    spool: join(folder, "spool"),
    get server() {
      return server;
    },
    get client() {
      return client;
    },
  };
}

/** The numbers of one series, in the order of its steps. */
export async function readNumbers(
  client: Cairn,
  runId: string,
  key: string,
): Promise<{ steps: number[]; values: number[] }> {
  const { series } = await client.metrics.readSeries({
    series: [{ run: { id: runId }, key, allLabels: true }],
  });
  const steps: number[] = [];
  const values: number[] = [];
  for (const one of series) {
    steps.push(...doubles(one.steps?.bytes));
    values.push(...doubles(one.values?.bytes));
  }
  return { steps, values };
}

function doubles(bytes: Uint8Array | undefined): Float64Array {
  return new Float64Array((bytes ?? new Uint8Array(0)).slice().buffer);
}

/** The only run whose name that is. */
export async function findByName(client: Cairn, name: string) {
  const { runs } = await client.runs.searchRuns({
    query: `name = "${name}"`,
    columns: ["params", "tags", "aliases"],
  });
  return runs.length === 1 ? runs[0] : undefined;
}
