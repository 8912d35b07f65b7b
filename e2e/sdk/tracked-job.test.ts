import { readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { newRepository } from "#sdk/capture/testing/repository.ts";
import { createCairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { createResultTracker } from "#sdk/tracker/result-tracker.ts";
import { startJob, useWorld } from "./job.ts";

const world = useWorld();
const TRACKER = JSON.stringify(new URL("../../sdk/typescript/tracker/index.ts", import.meta.url).href);

/** A job of TorchX in a repository; `code` has its run. */
async function job(id: string, code: string, { query = "", env = {}, before = "" } = {}) {
  const repository = await newRepository();
  repository.write("train.ts", "one\n");
  const commit = repository.commit();
  repository.write("train.ts", "two\n");
  const done = startJob(
    `import { appRunFromEnv } from ${TRACKER};
     process.chdir(${JSON.stringify(repository.dir)});
     ${before}
     const run = await appRunFromEnv();
     ${code}`,
    {
      env: {
        HOME: world.folder,
        CAIRN_SPOOL: join(world.folder, "spool-of-jobs"),
        TORCHX_JOB_ID: id,
        TORCHX_TRACKERS: "cairn",
        TORCHX_TRACKER_CAIRN_CONFIG: `${world.server.url}/jobs${query}`,
        ...env,
      },
    },
  );
  const { code: exitCode } = await done.exited;
  return { commit, exitCode, stdout: done.lines, stderr: done.stderr() };
}

async function stored(id: string, namespace = "jobs") {
  const { client } = world;
  const run = await client.runs.getRun({ run: { alias: id, namespace } });
  const { lines } = await client.logs.readLog({ run: { id: run.id } });
  const { artifacts } = await client.artifacts.listArtifacts({ run: { id: run.id } });
  return { ...run, lines: lines.map(({ text }) => text), artifacts: artifacts.map(({ name }) => name) };
}

describe("a job of TorchX", () => {
  it("X200 is recorded by its tracker as init() records a run: code, command, console and how it ended", async () => {
    const { commit, exitCode, stderr } = await job(
      "local://torchx/job-1",
      `console.log("epoch 1");
       await run.addMetadata({ lr: 0.1 });
       console.error("last words");`,
      { env: { TORCHX_TRACKING_EXPERIMENT_NAME: "sweep", TORCHX_TRACKING_RUN_NAME: "seven" } },
    );
    expect([exitCode, stderr]).toEqual([0, "last words\n"]);
    const run = await stored("local://torchx/job-1");
    expect(run).toMatchObject({
      namespace: "jobs/sweep",
      name: "seven",
      status: RunStatus.FINISHED,
      params: { lr: "0.1" },
      tags: { "torchx.run_id": "local://torchx/job-1" },
    });
    expect(run.lines.sort()).toEqual(["epoch 1", "last words"]);
    expect(run.artifacts).toContain("code/workdir.tar.gz");
    expect(run.provenance!.user).toBe(userInfo().username);
    // On a machine that is busy it may be late, and says so.
    const { code } = run.provenance!;
    if (!code!.patchLeftOut.startsWith("git took longer")) expect(code!.dirtyPatch).toContain("+two");
    if (code!.commit !== "") expect(code!.commit).toBe(commit);
    expect([code!.commit, code!.patchLeftOut]).not.toEqual(["", ""]);
    expect(run.provenance!.command[0]).toBe(process.execPath);
    expect(readdirSync(join(world.folder, "spool-of-jobs"))).toEqual([]);
  });

  it("X200 that dies leaves its last lines and has failed", async () => {
    const { exitCode } = await job("dying", `console.log("before"); throw new Error("on purpose");`);
    expect(exitCode).toBe(1);
    const run = await stored("dying");
    expect(run.status).toBe(RunStatus.FAILED);
    expect(run.lines).toEqual(expect.arrayContaining(["before", "Error: on purpose"]));
  });

  it("X200 is recorded once where the program begins a run for it, before or after", async () => {
    const init = `const own = await cairn.init({ server: "${world.server.url}", namespace: "jobs", capture: { archive: false } });`;
    const end = `console.log("once"); await own.finish("failed");`;
    await job("own-first", end, { before: init });
    await job("own-later", `${init} ${end}`);
    for (const id of ["own-first", "own-later"]) {
      const run = await stored(id);
      expect([id, run.lines, run.status]).toEqual([id, ["once"], RunStatus.FAILED]);
    }
  });

  it("X200 captures what the config chooses, and the launcher and other processes capture nothing", async () => {
    await job("quiet", `console.log("not this"); await run.addMetadata({ a: 1 });`, {
      query: "?capture=none",
    });
    expect(await stored("quiet")).toMatchObject({ lines: [], artifacts: [], status: RunStatus.FINISHED });
    await job("some", `console.log("this"); await run.addMetadata({ a: 1 });`, { query: "?capture=console" });
    const some = await stored("some");
    expect(some).toMatchObject({ lines: ["this"], artifacts: [], status: RunStatus.FINISHED });
    expect(some.provenance?.command ?? []).toEqual([]);
    const { stderr } = await job("odd", `console.log("x");`, { query: "?capture=everything" });
    expect(stderr).toContain('cannot capture "everything": choose among archive, code, console');
    const launcher = startJob(
      `import { CairnTracker, createCairnTracker } from ${TRACKER};
       const tracker = await createCairnTracker("${world.server.url}/jobs");
       console.log("of the launcher");
       await tracker.runIds();`,
      { env: { HOME: world.folder, TORCHX_JOB_ID: "launched" } },
    );
    await launcher.exited;
    await expect(stored("launched")).rejects.toThrow("cannot find run");
  });
});

describe("a tracker", () => {
  const context = { env: { HOME: world.folder } };

  it("X201 leaves no run running that no process is running for", async () => {
    const tracker = await createCairnTracker(`${world.server.url}/outside`, context);
    await tracker.addMetadata("notebook", { a: 1 });
    expect(await stored("notebook", "outside")).toMatchObject({ status: RunStatus.FINISHED });
    const results = await createResultTracker(`${world.server.url}/outside/results-1`, context);
    await results.put("0", { wer: 0.1 });
    expect(await stored("results-1", "outside")).toMatchObject({ status: RunStatus.FINISHED });
    // A job that is running stays so.
    await world.client.runs.createRun({ namespace: "outside", aliases: ["running"] });
    await tracker.addMetadata("running", { a: 1 });
    expect(await stored("running", "outside")).toMatchObject({ status: RunStatus.RUNNING });
  });

  it("X202 states what a source was used as, where its artifact has the name of a role", async () => {
    const tracker = await createCairnTracker(`${world.server.url}/outside`, context);
    const roles = [
      "train",
      "training_data",
      "test",
      "test_data",
      "initial_state",
      "feature_pipeline",
      "weights",
    ];
    for (const role of roles) await tracker.addSource("roles", `s3://${role}@v1`, role);
    await tracker.addSource("roles", "s3://plain");
    const { provenance } = await stored("roles", "outside");
    expect(provenance).toMatchObject({
      trainingData: ["s3://train@v1", "s3://training_data@v1"],
      testData: ["s3://test@v1", "s3://test_data@v1"],
      initialState: "s3://initial_state@v1",
      featurePipeline: "s3://feature_pipeline@v1",
    });
    expect(await tracker.sources("roles")).toHaveLength(roles.length + 1);
    // A lineage has the same links.
    const { ancestors, links } = await tracker.lineage("roles");
    expect(ancestors.map(({ runId }) => runId).sort()).toEqual(
      [...roles.map((role) => `s3://${role}@v1`), "s3://plain"].sort(),
    );
    const named = links.map(({ sourceRunId, artifactName }) => `${sourceRunId} as ${artifactName}`);
    expect(named.sort()).toEqual(
      [...roles.map((role) => `s3://${role}@v1 as ${role}`), "s3://plain as null"].sort(),
    );
  });
});
