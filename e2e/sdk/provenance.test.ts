import { truncateSync } from "node:fs";
import { userInfo, hostname } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeWorkTree, isClean, TRACKED } from "#lang/words/work-tree.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { RunStatus, type Provenance } from "#proto/cairn/v1/run_pb.ts";
import { fakeProgram } from "#sdk/capture/testing/folders.ts";
import { newRepository } from "#sdk/capture/testing/repository.ts";
import { Cairn } from "#sdk/client.ts";
import { setObjective } from "#sdk/objective.ts";
import { sync } from "#sdk/sync.ts";
import { dose, seed } from "../../tools/dose.ts";
import { findByName, startJob, useWorld } from "./job.ts";

const world = useWorld();
const connect = async (url: string) => new Cairn({ url });
/** Nothing listens there. */
const NOWHERE = "http://127.0.0.1:9";

/** A repository with one commit and a change of about so many bytes. */
async function dirtyRepository(changeBytes: number) {
  const repository = await newRepository();
  repository.write("train.ts", "one\n");
  const commit = repository.commit();
  repository.write("train.ts", `${"x".repeat(changeBytes)}\n`);
  return { dir: repository.dir, commit };
}

async function provenanceOf(name: string): Promise<Provenance> {
  const found = await findByName(world.client, name);
  const { provenance, status } = await world.client.runs.getRun({ run: { id: found!.id } });
  expect(status).not.toBe(RunStatus.RUNNING);
  return provenance!;
}

let count = 0;

/** A job in a repository; `code` has `run`, which began with `options`. */
async function job(
  { dir, path = process.env["PATH"] }: { dir: string; path?: string | undefined },
  options: string,
  code: string,
): Promise<{ name: string; spool: string; stderr: string }> {
  const name = `job-${++count}`;
  const spool = join(world.folder, name);
  const done = startJob(
    `process.chdir(${JSON.stringify(dir)});
     const capture = { console: false, system: false, archive: false, provenance: { gitTimeoutMs: 60_000 } };
     const run = await cairn.init({ name: "${name}", server: "${world.server.url}", spool: "${spool}", capture, ${options} });
     ${code}`,
    { env: { PATH: path } },
  );
  await done.exited;
  return { name, spool, stderr: done.stderr() };
}

/** A git that takes so many seconds for each call. */
async function slowPath(seconds: number): Promise<string> {
  return (await fakeProgram("git", `sleep ${seconds}; PATH="\${PATH#*:}" exec git "$@"`)).PATH;
}

const GIT_LATE = "git took longer than 5 s";
const ENDED_FIRST = "the process ended before it was known";

describe("provenance", () => {
  it("C241 arrives complete or says what is missing, in any order of calls, with slow git, big patches and without a server", async () => {
    const actions = {
      artifact: `await run.artifact("a.txt", "train.ts");`,
      media: `await run.media("m", new Uint8Array(9));`,
      log: `run.log({ loss: 1 });`,
      param: `run.params.set({ lr: 1 });`,
      data: `run.data("train", "s3://data/c4", { version: "v3" });`,
      study: `run.provenance({ study: "s1", logsLocation: "/logs" });`,
      flush: `run.flush();`,
      delivered: `await run.delivered(50);`,
    };
    const ends = {
      finish: `await run.finish();`,
      hasty: `await run.finish("finished", { deadlineMs: 1 });`,
      exit: `process.exit(0);`,
      signal: `process.kill(process.pid, "SIGTERM"); await new Promise((done) => setTimeout(done, 60_000));`,
      crash: `throw new Error("on purpose");`,
      nothing: ``,
    };
    const cases = fc.record({
      calls: fc.shuffledSubarray(Object.keys(actions) as (keyof typeof actions)[]),
      end: fc.constantFrom(...(Object.keys(ends) as (keyof typeof ends)[])),
      gitSeconds: fc.constantFrom(0, 0.3, 30),
      changeBytes: fc.constantFrom(10, 3_000_000),
      begin: fc.constantFrom("alone", "joined", "offline", "away"),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ calls, end, gitSeconds, changeBytes, begin }) => {
        const { dir, commit } = await dirtyRepository(changeBytes);
        const path = gitSeconds === 0 ? undefined : await slowPath(gitSeconds);
        const options = {
          alone: ``,
          joined: `alias: "shared-${count}"`,
          offline: `offline: true`,
          away: `server: "${NOWHERE}", openMs: 50, finishMs: 300`,
        };
        if (begin === "joined") {
          // Another process, which has captured nothing, was first.
          const name = `job-${count + 1}`;
          await world.client.runs.createRun({ namespace: "default", name, aliases: [`shared-${count}`] });
        }
        const code = calls.map((call) => actions[call]).join("\n") + ends[end];
        const capture = `capture: { console: false, system: false, archive: false }`;
        const { name, spool, stderr } = await job(
          { dir, path },
          `${capture}, study: "s0", ${options[begin]}`,
          code,
        );
        await sync(spool, { connect: () => connect(world.server.url) });
        const found = await provenanceOf(name);
        expect(found.study, stderr).toBe(calls.includes("study") ? "s1" : "s0");
        expect(found.logsLocation).toBe(calls.includes("study") ? "/logs" : "");
        expect(found.trainingData).toEqual(calls.includes("data") ? ["s3://data/c4@v3"] : []);
        expect(found.command[0]).toBe(process.execPath);
        expect([found.user, found.environment["host"]]).toEqual([userInfo().username, hostname()]);
        const { environment, code: tree } = found;
        // The work tree is dirty: everything else would be wrong.
        expect(isClean(tree!)).toBe(false);
        if (tree!.trackedChanges === TRACKED.some) {
          expect(tree!.commit).toBe(commit);
          if (changeBytes > 1 << 20) expect(tree!.patchLeftOut).toMatch(/1 MiB|longer than 5 s/);
          else if (tree!.patchLeftOut === "")
            expect(tree!.dirtyPatch).toContain(`+${"x".repeat(changeBytes)}`);
          else expect(tree!.patchLeftOut).toBe(GIT_LATE);
        } else {
          expect(tree!.trackedChanges).toBe(TRACKED.unknown);
          expect([GIT_LATE, ENDED_FIRST]).toContain(tree!.patchLeftOut);
          expect(environment["note:git"]).toContain(tree!.patchLeftOut);
          expect(describeWorkTree(tree!)).toBe(`unknown: ${tree!.patchLeftOut}`);
        }
        // What was too early for one part says so of that part alone.
        if (environment["cpu.count"] === undefined) expect(environment["note:host"]).toContain(ENDED_FIRST);
      }),
      { numRuns: dose(12, 60), seed },
    );
  });

  it("C241 that is known late comes late, also when nothing else is logged", async () => {
    const { dir, commit } = await dirtyRepository(10);
    const { name } = await job({ dir, path: await slowPath(0.4) }, ``, `await run.finish();`);
    const { code } = await provenanceOf(name);
    expect(code).toMatchObject({ commit, trackedChanges: TRACKED.some, patchLeftOut: "" });
    expect(code!.dirtyPatch).toContain("+xxxxxxxxxx");
  });

  it("C241 of a job that is killed while git works has what was known before", async () => {
    const { dir } = await dirtyRepository(10);
    const { name } = await job(
      { dir, path: await slowPath(30) },
      ``,
      `await run.delivered(); process.kill(process.pid, "SIGKILL");`,
    );
    const run = await findByName(world.client, name);
    const { provenance } = await world.client.runs.getRun({ run: { id: run!.id } });
    expect(provenance!.command[0]).toBe(process.execPath);
    expect(provenance!.environment["host"]).toBe(hostname());
    expect(provenance!.code).toBeUndefined();
  });

  it("C241 of a run that goes on with other code keeps the first, and says so", async () => {
    const { dir, commit } = await dirtyRepository(10);
    const { name } = await job({ dir }, ``, `await run.finish();`);
    const run = await findByName(world.client, name);
    const other = await dirtyRepository(20);
    await job({ dir: other.dir }, `resume: "${run!.id}"`, `await run.finish();`);
    const { code, environment } = await provenanceOf(name);
    expect(code).toMatchObject({ commit });
    expect(code!.dirtyPatch).toContain("+xxxxxxxxxx\n");
    if (other.commit !== commit) expect(environment["note:code"]).toContain(other.commit);
    else expect(environment["note:code"]).toContain("a later process ran other code");
  });

  it("C241 says why there is no archive of the working directory", async () => {
    const { dir } = await dirtyRepository(10);
    // More than 64 MiB, without its bytes.
    truncateSync(join(dir, "train.ts"), 70 << 20);
    const code = `await run.finish();`;
    const large = await job({ dir }, `capture: { ...capture, archive: true }`, code);
    const { environment, code: tree } = await provenanceOf(large.name);
    expect(environment["note:archive"]).toContain("train.ts");
    expect(tree!.archive).toBe("");
    const hasty = await job({ dir }, `capture: { ...capture, archive: true }`, `process.exit(0);`);
    await sync(hasty.spool, { connect: () => connect(world.server.url) });
    const early = await provenanceOf(hasty.name);
    expect(early.environment["note:archive"]).toMatch(/the process ended|train\.ts/);
  });

  it("C241 names an archive that was made of the same code", async () => {
    const { dir, commit } = await dirtyRepository(10);
    const { name } = await job({ dir }, `capture: { ...capture, archive: true }`, `await run.finish();`);
    const { code } = await provenanceOf(name);
    expect(code).toMatchObject({ commit, archive: "code/workdir.tar.gz" });
    expect(code!.dirtyPatch).not.toBe("");
  });
});

describe("what a program states", () => {
  const state = (options: string, code: string) => job({ dir: world.folder }, options, code);

  it("C244 data, study, pipeline and logs are provenance, of a new run and of one that is there", async () => {
    const options = `
      trainingData: ["s3://data/c4@v3", "hf://squad"], testData: "s3://data/test", initialState: "s3://models/base@7",
      featurePipeline: "git@example.org:team/features.git@4f2a91c", study: "warmup", logsLocation: "/logs/7"`;
    const more = `
      run.data("train", "s3://data/more", { digest: "sha256:${"A".repeat(64)}" });
      run.data("train", "hf://squad");
      run.data("test", "s3://data/dev", { version: "v1" });
      run.data("initialState", "s3://models/other");
      run.provenance({ study: "cooldown", testData: ["s3://data/last"] });
      await run.finish();`;
    const expected = {
      trainingData: ["s3://data/c4@v3", "hf://squad", `s3://data/more@sha256:${"a".repeat(64)}`],
      testData: ["s3://data/test", "s3://data/dev@v1", "s3://data/last"],
      initialState: "s3://models/other",
      featurePipeline: "git@example.org:team/features.git@4f2a91c",
      study: "cooldown",
      logsLocation: "/logs/7",
    };
    const { name } = await state(options, more);
    expect(await provenanceOf(name)).toMatchObject(expected);
    await world.client.runs.createRun({ namespace: "default", name: "joined", aliases: ["joined"] });
    await state(`alias: "joined", ${options}`, more);
    expect(await provenanceOf("joined")).toMatchObject(expected);
    const { run } = await world.client.runs.createRun({ namespace: "default", name: "resumed" });
    await state(`resume: "${run!.id}", ${options}`, more);
    expect(await provenanceOf("resumed")).toMatchObject(expected);
  });

  it("C244 what cannot be kept is left out with one notice, and invalid options are errors of the program", async () => {
    const { stderr, name } = await state(
      ``,
      `run.data("train", "");
       run.data("training", "s3://x");
       run.data("train", "s3://z", { version: "a/b" });
       run.data("train", "s3://y", { digest: "abc" });
       run.provenance({ sudy: "s" });
       run.provenance({ study: 7 });
       run.describe("loss", { direction: "down" });
       run.describe("loss", { min: 2, max: 1 });
       for (const bad of [{ study: 1 }, { trainingData: [""] }, { initialState: "a\\nb" }]) {
         await cairn.init(bad).then(() => console.error("taken"), (error) => console.error(error.name));
       }
       await run.finish();`,
    );
    expect(stderr.match(/TypeError/g)).toHaveLength(3);
    expect(stderr).not.toContain("taken");
    for (const part of [
      `cannot record data: `,
      `role "training" is not one of train, test, initialState, featurePipeline`,
      `version "a/b"`,
      `digest "abc"`,
      `"sudy" is not one of`,
      `direction "down" is neither "max" nor "min"`,
    ]) {
      expect(stderr).toContain(part);
    }
    expect(await provenanceOf(name)).toMatchObject({ trainingData: [], study: "" });
  });

  it("C245 what a key means holds in the namespace of the run", async () => {
    const { spool } = await state(
      `namespace: "keys/asr", offline: true`,
      `run.describe("acc", { unit: "%", direction: "max", min: 0, max: 1, picture: "accuracy", description: "of the dev set" });
       run.describe("loss", { direction: "min", min: 0 });
       run.log({ acc: 0.5 });
       await run.finish();`,
    );
    const [report] = await sync(spool, { connect });
    expect(report).toMatchObject({ isDone: true, left: 0, refused: 0, descriptions: 2 });
    const { keys } = await world.client.metrics.listKeys({ namespace: "keys/asr" });
    expect(keys).toMatchObject([
      {
        namespace: "keys/asr",
        key: "acc",
        unit: "%",
        direction: Direction.MAXIMIZE,
        min: 0,
        max: 1,
        picture: Picture.ACCURACY,
        description: "of the dev set",
      },
      { key: "loss", direction: Direction.MINIMIZE, min: 0 },
    ]);
  });

  it("C246 the objective of a namespace is set by name and direction", async () => {
    await world.client.namespaces.createNamespace({ path: "goals" });
    await setObjective(world.client, "goals", { metric: "wer", direction: "min" });
    const { objective } = await world.client.namespaces.getNamespace({ path: "goals" });
    expect(objective).toMatchObject({ metric: "wer", direction: Direction.MINIMIZE });
    const wrong = { metric: "wer", direction: "down" as "min" };
    await expect(setObjective(world.client, "goals", wrong)).rejects.toThrow("neither");
  });
});
