import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pythonCommand } from "../../tools/needs.ts";
import { steadyPort } from "../steady-port.ts";

const START_MS_MAX = 200_000;
const STOP_MS_MAX = 10_000;
const POLL_MS = 200;
const LOG_CHARACTERS_MAX = 20_000;

/** A real MLflow server with its own database and place for artifacts. */
export interface MLflowServer {
  url: string;
  stop(): Promise<void>;
}

export async function startMLflow(): Promise<MLflowServer> {
  const folder = await mkdtemp(join(tmpdir(), "cairn-mlflow-"));
  const port = await steadyPort();
  const url = `http://127.0.0.1:${port}`;
  const flags = ["--host", "127.0.0.1", "--port", String(port), "--workers", "1"];
  const stores = [
    `--backend-store-uri=sqlite:///${join(folder, "mlflow.db")}`,
    `--artifacts-destination=${join(folder, "artifacts")}`,
  ];
  // Its own group: MLflow starts a process per worker.
  const child = spawn(pythonCommand(), ["-m", "mlflow", "server", ...flags, ...stores], {
    detached: true,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      MLFLOW_DISABLE_TELEMETRY: "true",
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-LOG_CHARACTERS_MAX)));
  }
  const stop = async () => {
    await stopGroup(child);
    await rm(folder, { recursive: true, force: true });
  };
  const until = performance.now() + START_MS_MAX;
  while (!(await answers(url))) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`cannot start MLflow: ${log}`);
    }
    await sleep(POLL_MS);
  }
  return { url, stop };
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  );
  return response?.ok === true;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const exited = isOver ? Promise.resolve() : once(child, "exit");
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    try {
      process.kill(-pid, signal);
    } catch {
      return;
    }
    await Promise.race([exited, sleep(STOP_MS_MAX, undefined, { ref: false })]);
  }
}
