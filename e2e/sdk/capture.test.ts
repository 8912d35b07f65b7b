import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { gunzipSync } from "node:zlib";
import tar from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectProvenance } from "#sdk/capture/provenance.ts";
import { fakeProgram, temporaryFolder } from "#sdk/capture/testing/folders.ts";
import { newRepository } from "#sdk/capture/testing/repository.ts";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { COMPILED } from "./job.ts";

const SDK = JSON.stringify(fileURLToPath(new URL("../../sdk/typescript/index.ts", import.meta.url)));

let server: ChildServer;
let client: Cairn;

beforeAll(async () => {
  server = await startChild(["--data", "memory:"]);
  client = new Cairn({ url: server.url });
});

afterAll(async () => {
  server.child.kill("SIGKILL");
  await server.exited;
});

interface Job {
  dir: string;
  env?: NodeJS.ProcessEnv;
  args?: string[];
}

/**
 * A job in a separate process, with nothing of this process's environment but the path. Its script awaits `released`
 * before it ends, which resolves after `until`.
 */
async function runJob(script: string, { dir, env, args = [] }: Job, until: Promise<unknown>): Promise<void> {
  const head = `
    import { init } from ${SDK};
    const released = new Promise((done) => process.stdin.on("end", done).resume());`;
  const words = ["--input-type=module", "-e", head + script, "--", ...args];
  const child = spawn(process.execPath, words, {
    cwd: dir,
    env: {
      PATH: process.env["PATH"],
      HOME: await temporaryFolder(),
      CAIRN_SERVER: server.url,
      ...COMPILED,
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 240_000,
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdout.resume();
  child.stdin.on("error", () => {});
  const closed = once(child, "close") as Promise<[number | null]>;
  await Promise.race([until, closed]).finally(() => child.stdin.end());
  const [code] = await closed;
  if (code !== 0) throw new Error(`the job ended with ${code}: ${said}`);
}

/** Resolves once the server has all these series of the only run of a namespace. */
async function arrival(namespace: string, expected: readonly string[]): Promise<void> {
  const missing = async () => {
    const { runs } = await client.runs.searchRuns({ namespace });
    if (runs[0] === undefined) return expected;
    const { series } = await client.metrics.listSeries({ run: { id: runs[0].id }, pageSize: 10_000 });
    const keys = new Set(series.map(({ key, labels }) => key + JSON.stringify(labels)));
    return expected.filter((key) => !keys.has(key));
  };
  await expect.poll(missing).toEqual([]);
}

/** Resolves once the provenance of the only run of a namespace says where its archive is. */
async function archiveOf(namespace: string): Promise<void> {
  const name = async () => {
    const { runs } = await client.runs.searchRuns({ namespace, columns: ["provenance"] });
    return runs[0]?.provenance?.code?.archive ?? "";
  };
  await expect.poll(name).not.toBe("");
}

async function filesIn(archive: Uint8Array): Promise<string[]> {
  const extract = tar.extract();
  extract.end(gunzipSync(archive));
  const names: string[] = [];
  for await (const entry of extract) {
    names.push(entry.header.name);
    entry.resume();
  }
  return names;
}

async function onlyRun(namespace: string) {
  const { runs } = await client.runs.searchRuns({ namespace, columns: ["provenance", "tags"] });
  expect(runs).toHaveLength(1);
  return runs[0]!;
}

describe("capture", () => {
  it("C24, C28: what was collected is what the server has", async () => {
    const repository = await newRepository();
    repository.write("train.ts", "one\n");
    const commit = repository.commit();
    repository.write("train.ts", "two é\n");
    const { provenance } = await collectProvenance({ dir: repository.dir, gitTimeoutMs: 30_000 });
    const { run } = await client.runs.createRun({ namespace: "collected", provenance });
    const stored = (await client.runs.getRun({ run: { id: run!.id } })).provenance!;
    expect(stored.code).toMatchObject({ commit, branch: "main", dirtyPatch: provenance.code!.dirtyPatch });
    expect(stored.command).toEqual(provenance.command);
    expect(stored.environment).toEqual(provenance.environment);
    expect(stored.environment["node"]).toBe(process.version);
  });

  it("C22, C30, C33, C36, C39: a job that only says init() is recorded with all of it, and without its secrets", async () => {
    const repository = await newRepository();
    repository.write("train.ts", "one\n");
    const commit = repository.commit();
    repository.write("train.ts", "two\n");
    const env = await fakeProgram("nvidia-smi", "printf '0, 97, 50, 200, 61, 402.11\\n'");
    await runJob(
      `const provenance = { gitTimeoutMs: 60_000 };
       const run = await init({ namespace: "whole", capture: { provenance, system: { intervalMs: 50 } } });
       console.log("epoch 1, token " + process.env.HF_TOKEN);
       process.stderr.write("10%\\r90%\\r100%\\n");
       for (let step = 0; step < 3; step++) run.log({ loss: 1 / (step + 1) });
       await released;
       run.log({ loss: 0.1 });
       await run.finish();`,
      {
        dir: repository.dir,
        args: ["--lr", "0.1", "--api-key", "planted-secret"],
        env: { PATH: env.PATH, HF_TOKEN: "planted-secret", CUDA_VISIBLE_DEVICES: "0" },
      },
      Promise.all([
        arrival("whole", [
          "system/cpu.percent{}",
          "system/memory.rss{}",
          'system/gpu.utilization{"gpu":"0"}',
          "loss{}",
        ]),
        archiveOf("whole"),
      ]),
    );
    const run = await onlyRun("whole");
    const ref = { id: run.id };
    expect(run.provenance?.code).toMatchObject({ commit, branch: "main" });
    expect(run.provenance?.code?.dirtyPatch).toContain("+two");
    expect(run.provenance?.environment).toMatchObject({ "env:CUDA_VISIBLE_DEVICES": "0" });
    expect(run.provenance?.command.slice(-4)).toEqual(["--lr", "0.1", "--api-key", "[redacted]"]);

    // The archive comes as an artifact, and the provenance says which.
    const name = run.provenance!.code!.archive;
    const answer = await client.fetch(`/artifacts/${run.id}/${name}`);
    expect(answer.status).toBe(200);
    expect(await filesIn(await answer.bytes())).toEqual(["train.ts"]);

    const { lines } = await client.logs.readLog({ run: ref });
    expect(lines.map(({ stream, text }) => [stream, text])).toEqual(
      expect.arrayContaining([
        ["stdout", "epoch 1, token [redacted]"],
        ["stderr", "100%"],
      ]),
    );

    const { series } = await client.metrics.listSeries({ run: ref });
    const loss = series.find(({ key }) => key === "loss")!;
    // System metrics used up none of the numbers of its steps.
    expect(loss.summary).toMatchObject({ count: 4n, last: { step: 3n } });
    const everything = inspect([run, lines, series], {
      depth: 20,
      maxArrayLength: null,
      maxStringLength: null,
    });
    expect(everything).toContain(commit);
    expect(everything).not.toContain("planted");
  });

  it("C20, C36: of four ranks on one machine one measures the machine, and all are one run", async () => {
    const dir = await temporaryFolder();
    const script = `
      const run = await init({ namespace: "ranks", capture: { system: { intervalMs: 50 } } });
      await released;
      await run.finish();`;
    const own = [0, 1, 2, 3].map((rank) => `system/memory.rss{"rank":"${rank}"}`);
    const until = arrival("ranks", [...own, 'system/cpu.percent{"rank":"0"}']);
    const launcher = { WORLD_SIZE: "4", TORCHELASTIC_RUN_ID: "job-12345678" };
    const jobs = [0, 1, 2, 3].map((rank) => {
      const env = { ...launcher, RANK: String(rank), LOCAL_RANK: String(rank) };
      return runJob(script, { dir, env }, until);
    });
    await Promise.all(jobs);
    const run = await onlyRun("ranks");
    const { series } = await client.metrics.listSeries({ run: { id: run.id } });
    const ranksOf = (key: string) =>
      series
        .filter((one) => one.key === key)
        .map(({ labels }) => Number(labels["rank"]))
        .sort((a, b) => a - b);
    expect(ranksOf("system/memory.rss")).toEqual([0, 1, 2, 3]);
    expect(ranksOf("system/cpu.percent")).toEqual([0]);
  });
});
