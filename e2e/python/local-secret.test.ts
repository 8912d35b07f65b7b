import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { findServer } from "#sdk/login.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { steadyPort } from "../steady-port.ts";
import { PACKAGE, python, pythonEnvironment, runPython } from "./python.ts";

/** As in e2e/local-secret.test.ts, where the other programs of the user are tried. */
const home = mkdtempSync(join(tmpdir(), "cairn-home-"));
const env = { HOME: home, XDG_CONFIG_HOME: "" };
let port: number;
let url: string;
let server: ChildServer;

async function start(): Promise<void> {
  server = await startChild(["--data", join(home, "data"), "--port", String(port), "--local-secret"], {
    env: { ...process.env, ...env },
  });
}

async function stop(): Promise<void> {
  server.child.kill("SIGKILL");
  await server.exited;
}

beforeAll(async () => {
  port = await steadyPort();
  url = `http://127.0.0.1:${port}`;
  await start();
});

afterAll(async () => {
  await stop();
  rmSync(home, { recursive: true, force: true });
});

const PYTHON_JOB = `
import sys, cairn
run = cairn.init(namespace="python", name=sys.argv[1], capture=False)
run.log({"loss": 1.0}, step=1)
print("first", flush=True)
sys.stdin.readline()
run.log({"loss": 0.5}, step=2)
run.finish()
`;

it("S26 A30 a job in Python continues after a restart with another secret", async () => {
  const job = runPythonJob();
  await expect.poll(job.output).toContain("first");
  await stop();
  await start();
  job.go();
  expect(await job.exited, job.output()).toBe(0);
  const client = new Cairn(await findServer({ server: url }, env));
  const query = 'namespace = "python" and status = "finished" and metrics.loss.last = 0.5';
  expect((await client.runs.searchRuns({ query })).totalCount).toBe(1n);
  const found = await runPython(["-c", "import cairn; print(cairn.find_server().token[:12])"], {
    path: [PACKAGE],
    env: { ...env, CAIRN_SERVER: url },
  });
  expect(found.output).toBe("cairn_local_\n");
});

function runPythonJob(): { output(): string; go(): void; exited: Promise<number> } {
  const child = spawn(python(), ["-c", PYTHON_JOB, "over"], {
    env: { ...pythonEnvironment({ path: [PACKAGE] }), ...env, CAIRN_SERVER: url },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 120_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const exited = once(child, "close").then(([code]) => code as number);
  return { output: () => output, go: () => void child.stdin.end("go\n"), exited };
}
