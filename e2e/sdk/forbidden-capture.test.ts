import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import { newRepository } from "#sdk/capture/testing/repository.ts";
import { Cairn } from "#sdk/client.ts";
import { sync } from "#sdk/sync.ts";
import { findByName, readNumbers, startJob, useWorld } from "./job.ts";

const world = useWorld();

async function forbid(
  path: string,
  policy: { forbidConsole?: boolean; forbidCode?: boolean },
): Promise<void> {
  await world.client.namespaces.createNamespace({ path }).catch(() => undefined);
  await world.client.namespaces.updateNamespace({ path, ...policy });
}

/** A job in a repository, with its own spool; `code` has `run` and `until`. */
async function job(name: string, options: string, code: string, sizeBytes = 10) {
  const spool = `${world.spool}-${name}`;
  const repository = await newRepository();
  repository.write("train.ts", "one\n");
  repository.write("weights.bin", randomBytes(sizeBytes));
  repository.commit();
  repository.write("train.ts", "two\n");
  const done = startJob(
    `import { setTimeout as sleep } from "node:timers/promises";
     import { readdir } from "node:fs/promises";
     process.chdir(${JSON.stringify(repository.dir)});
     const until = async (holds) => { while (!(await holds())) await sleep(20); };
     const options = { capture: { system: false, provenance: { gitTimeoutMs: 60_000 } }, ${options} };
     const run = await cairn.init({ name: "${name}", server: "${world.server.url}", spool: "${spool}", ...options });
     ${code}`,
  );
  const { code: exitCode } = await done.exited;
  expect(exitCode, done.stderr()).toBe(0);
  return { stderr: done.stderr(), lines: done.lines, spool };
}

async function stored(name: string) {
  const { client } = world;
  const { id } = (await findByName(client, name))!;
  const [{ lines }, { artifacts }, { provenance }] = await Promise.all([
    client.logs.readLog({ run: { id } }),
    client.artifacts.listArtifacts({ run: { id } }),
    client.runs.getRun({ run: { id } }),
  ]);
  return {
    texts: lines.map(({ text }) => text),
    artifacts: artifacts.map((one) => one.name),
    provenance,
    losses: (await readNumbers(client, id, "loss")).values,
  };
}

const count = (text: string, part: string) => text.split(part).length - 1;
const CONSOLE_OFF = 'cairn: console capture is off in namespace "strict": an administrator forbade it';
const CODE_OFF = 'cairn: code capture is off in namespace "strict": an administrator forbade it';

describe("a namespace that forbids capture", () => {
  it("C50 console and archive are not captured, with one notice of the reason each, and the rest is recorded", async () => {
    await forbid("strict", { forbidConsole: true, forbidCode: true });
    const { stderr, lines } = await job(
      "strict",
      `namespace: "strict/asr"`,
      `console.log(Object.hasOwn(process.stdout, "write") ? "captured" : "not captured");
       run.line("given");
       run.log({ loss: 0.5 });
       await run.finish();`,
    );
    expect(lines).toEqual(["not captured"]);
    const { texts, artifacts, provenance, losses } = await stored("strict");
    expect([texts, artifacts, losses]).toEqual([["given"], [], [0.5]]);
    expect(provenance!.code).toMatchObject({ branch: "main", dirtyPatch: "", archive: "" });
    expect(describeWorkTree(provenance!.code!)).toMatch(/^dirty, patch left out/);
    expect(provenance!.code!.patchLeftOut).toBe('namespace "strict" forbids code capture');
    expect(count(stderr, CONSOLE_OFF)).toBe(1);
    expect(count(stderr, CODE_OFF)).toBe(1);
  });

  it("C50 what was captured before the server answered is not stored, and a run that captures nothing has no notice", async () => {
    await forbid("strict", { forbidConsole: true, forbidCode: true });
    const { stderr } = await job(
      "early",
      `namespace: "strict", openMs: 1`,
      `console.log("printed before");
       await until(() => run.id);
       console.log("printed after");
       run.log({ loss: 1 });
       await run.finish();`,
    );
    expect(await stored("early")).toMatchObject({ texts: [], artifacts: [], losses: [1] });
    expect(count(stderr, CONSOLE_OFF)).toBe(1);
    const quiet = await job("quiet", `namespace: "strict", capture: false`, `await run.finish();`);
    expect(quiet.stderr).toBe("");
  });

  it("C50 a run stops capturing when the server leaves something out", async () => {
    await forbid("later", { forbidConsole: false, forbidCode: false });
    const admin = `const admin = new cairn.Cairn({ url: "${world.server.url}" });`;
    const { stderr } = await job(
      "later",
      `namespace: "later", capture: { system: false, archive: false }`,
      `${admin}
       console.log("before");
       run.log({ loss: 1 });
       await run.delivered();
       await admin.namespaces.updateNamespace({ path: "later", forbidConsole: true });
       console.log("left out by the server");
       await run.delivered();
       await admin.namespaces.updateNamespace({ path: "later", forbidConsole: false });
       console.log("not sent");
       run.log({ loss: 2 });
       await run.finish();`,
    );
    expect(await stored("later")).toMatchObject({ texts: ["before"], losses: [1, 2] });
    expect(count(stderr, 'console capture is off in namespace "later"')).toBe(1);
  });

  it("C50 a run that is resumed asks before it captures", async () => {
    await forbid("strict", { forbidConsole: true, forbidCode: true });
    const { run } = await world.client.runs.createRun({ namespace: "strict", name: "resumed" });
    const { lines, stderr } = await job(
      "resumed",
      `resume: "${run!.id}"`,
      `console.log(Object.hasOwn(process.stdout, "write"));
       run.log({ loss: 3 });
       await run.finish();`,
    );
    expect(lines).toEqual(["false"]);
    expect(await stored("resumed")).toMatchObject({ texts: [], artifacts: [], losses: [3] });
    expect(count(stderr, CONSOLE_OFF)).toBe(1);
  });

  it("C50 C18 what an offline run has captured is left out by the server, and its spool is delivered whole", async () => {
    await forbid("strict", { forbidConsole: true, forbidCode: true });
    const { spool } = await job(
      "offline",
      `namespace: "strict", offline: true, capture: { system: false, archive: true }`,
      `console.log("printed");
       run.line("given");
       run.log({ loss: 4 });
       await run.finish();`,
    );
    const connect = async (url: string) => new Cairn({ url });
    const [report] = await sync(spool, { connect });
    expect(report).toMatchObject({ isDone: true, left: 0, refused: 0, lost: 0 });
    const { texts, artifacts, provenance, losses } = await stored("offline");
    expect([texts, artifacts, losses]).toEqual([["given"], [], [4]]);
    expect(provenance!.code?.dirtyPatch ?? "").toBe("");
    expect(await sync(spool, { connect })).toEqual([]);
  });

  it("C50 N8 an archive that is too large for an envelope is refused by name and delays nothing else", async () => {
    await forbid("strict", { forbidConsole: true, forbidCode: true });
    const { spool } = await job(
      "large",
      `namespace: "strict", offline: true, capture: { system: false, archive: true }`,
      `await until(async () => (await readdir(run.spoolFolder + "/files").catch(() => [])).some((one) => one.length === 64));
       await run.media("sample", new Uint8Array(300_000));
       run.log({ loss: 5 });
       await run.finish();`,
      400_000,
    );
    const refused: string[] = [];
    const connect = async (url: string) => new Cairn({ url });
    const [report] = await sync(spool, {
      connect,
      onRefused: (what, why) => refused.push(`${what}: ${why}`),
    });
    expect(report).toMatchObject({ isDone: true, left: 0, refused: 1, uploads: 1 });
    expect(refused).toEqual([expect.stringContaining('namespace "strict" forbids code capture')]);
    expect(await stored("large")).toMatchObject({ artifacts: ["sample"], losses: [5] });
  });
});
