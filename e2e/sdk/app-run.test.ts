import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { CairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { COMPILED } from "./job.ts";

const ROOT = new URL("../../", import.meta.url);
/** A child that hangs is killed, and has no exit code. */
const CHILD_MS_MAX = 60_000;

/** Runs a file with Node; what it was started with is all its environment. */
async function runNode(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, words, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, ...COMPILED, ...env },
    timeout: CHILD_MS_MAX,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** What the package `cairn-sdk` exports, in the checkout. */
const EXPORTS: Readonly<Record<string, string>> = {
  "cairn-sdk/tracker": "tracker/index.ts",
  "cairn-sdk/tracker/conformance": "tracker/conformance.ts",
};

/** The same program with the SDK of the checkout. */
function outside(source: string): string {
  return source.replaceAll(/"(cairn-sdk\/[^"]+)"/g, (_, name: string) =>
    JSON.stringify(new URL(`sdk/typescript/${EXPORTS[name]}`, ROOT).href),
  );
}

describe("a job in a separate process", () => {
  let server: ChildServer;
  let dir: string;
  beforeAll(async () => {
    server = await startChild(["--data", "memory:"]);
    dir = await mkdtemp(join(tmpdir(), "cairn-job-"));
    // The walkthrough of the guide, as a reader would type it.
    const guide = await readFile(fileURLToPath(new URL("docs/guides/trackers.md", ROOT)), "utf8");
    for (const [, name, source] of guide.matchAll(/```ts\n\/\/ file: (\S+)\n(.*?)```/gs)) {
      await writeFile(join(dir, name!), outside(source!));
    }
    await writeFile(
      join(dir, "job.ts"),
      outside(`
        import { appRunFromEnv } from "cairn-sdk/tracker";
        const run = await appRunFromEnv();
        await run.addMetadata({ rank: process.env.RANK, seed: 9007199254740993n });
        await run.addArtifact("model", "s3://models/7.pt", { epoch: 3 });
        console.log(JSON.stringify({ id: run.id, backends: run.backends.length, failed: run.failedWrites }));
      `),
    );
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(dir, { recursive: true, force: true });
  });

  it("X10 tracks to every tracker its environment names", async () => {
    const env = {
      TORCHX_JOB_ID: "local_cwd://torchx/job-1",
      TORCHX_PARENT_RUN_ID: "local_cwd://torchx/base",
      TORCHX_TRACKERS: "cairn,./lines-tracker.ts:create,nonsense",
      TORCHX_TRACKER_CAIRN_CONFIG: `${server.url}/jobs`,
      "TORCHX_TRACKER_./LINES-TRACKER.TS:CREATE_CONFIG": join(dir, "runs"),
      RANK: "0",
    };
    const { code, output } = await runNode(["job.ts"], dir, env);
    expect(output).toContain('cairn: cannot use tracker "nonsense"');
    expect(output).toContain('{"id":"local_cwd://torchx/job-1","backends":2,"failed":0}');
    expect(code).toBe(0);
    const tracker = new CairnTracker(new Cairn({ url: server.url }), { namespace: "jobs" });
    expect(await tracker.metadata("local_cwd://torchx/job-1")).toEqual(
      new Map<string, unknown>([
        ["rank", "0"],
        ["seed", 9_007_199_254_740_993n],
      ]),
    );
    expect(await tracker.runIds({ parentRunId: "local_cwd://torchx/base" })).toEqual([
      "local_cwd://torchx/job-1",
    ]);
    const lines = await readFile(join(dir, "runs", encodeURIComponent("local_cwd://torchx/job-1")), "utf8");
    expect(lines).toContain("9007199254740993");
    expect(lines).toContain("local_cwd://torchx/base");
  });

  it("X10 outside TorchX does nothing and prints nothing", async () => {
    const { code, output } = await runNode(["job.ts"], dir);
    expect(output).toBe('{"id":"<UNDEFINED>","backends":0,"failed":0}\n');
    expect(code).toBe(0);
  });

  it("X11 ends well when the server is away", async () => {
    const { code, output } = await runNode(["job.ts"], dir, {
      TORCHX_JOB_ID: "job",
      TORCHX_PARENT_RUN_ID: "base",
      TORCHX_TRACKERS: "cairn",
      TORCHX_TRACKER_CAIRN_CONFIG: "http://127.0.0.1:1/jobs?wait_s=1",
    });
    expect(output).toContain("cannot reach http://127.0.0.1:1");
    expect(output).toContain('"failed":2');
    expect(code).toBe(0);
  });

  it("X3 the tracker of the guide passes the suite with node:test", async () => {
    const { code, output } = await runNode(["--test", "lines-tracker.test.ts"], dir);
    expect(output).toMatch(/pass 3\d/);
    expect(output).toContain("fail 0");
    expect(code).toBe(0);
  });
});
