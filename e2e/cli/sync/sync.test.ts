import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listSegments } from "#sdk/spool/segments.ts";
import { syncWriter } from "#sdk/sync.ts";
import { readNumbers, startJob } from "../../sdk/job.ts";
import { useTerminal } from "../testing/cairn.ts";
import { startCairn } from "../testing/start-cairn.ts";

describe("cairn sync", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  const spool = (name: string) => join(terminal.home, name);

  /** A job that logs three points and dies, or continues. */
  async function leave(
    name: string,
    { last = 'process.kill(process.pid, "SIGKILL");', offline = true } = {},
  ) {
    const job = startJob(
      `const run = await cairn.init({ server: ${JSON.stringify(terminal.server.url)}, name: "${name}", alias: "${name}",
         spool: ${JSON.stringify(spool(name))}, capture: false, offline: ${offline} });
       for (let i = 0; i < 3; i++) run.log({ a: i });
       run.flush();
       console.log("spooled");
       ${last}`,
    );
    await expect.poll(() => job.lines).toContain("spooled");
    return job;
  }

  it("C18 delivers the spool of a killed job, and removes it", async () => {
    await (
      await leave("killed")
    ).exited;
    const dry = await cairn(["sync", spool("killed"), "--dry-run"]);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stdout).toBe(`killed: 2 frames for ${terminal.server.url}\n`);
    expect(readdirSync(spool("killed")).length).toBe(1);
    const { code, stdout } = await cairn(["sync", spool("killed")]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f]{32}: 2 envelopes delivered\n$/);
    const { id } = await terminal.client.runs.getRun({ run: { alias: "killed" } });
    expect((await readNumbers(terminal.client, id, "a")).values).toEqual([0, 1, 2]);
    expect(readdirSync(spool("killed"))).toEqual([]);
    expect(await cairn(["sync", spool("killed")])).toMatchObject({ code: 0 });
  });

  it("C18 delivers an offline run from the spool of the environment", async () => {
    await (
      await leave("offline", { last: 'await run.finish("finished");' })
    ).exited;
    const { code, json } = await cairn(["sync", "--json"], { env: { CAIRN_SPOOL: spool("offline") } });
    expect(code).toBe(0);
    expect(json()).toMatchObject({ folders: [{ isDone: true, envelopes: 3, left: 0, lost: 0, damages: 0 }] });
    expect(await terminal.client.runs.getRun({ run: { alias: "offline" } })).toMatchObject({
      name: "offline",
    });
  });

  it("C18 leaves the spool of a running process alone", async () => {
    const job = await leave("living", { last: "setInterval(() => {}, 1000);" });
    const { code, stdout } = await cairn(["sync", spool("living")]);
    expect(code).toBe(0);
    expect(stdout).toContain("living: still being written by its process; 2 frames wait");
    expect(listSegments(join(spool("living"), readdirSync(spool("living"))[0]!)).length).toBe(1);
    job.child.kill("SIGKILL");
    await job.exited;
    expect(await cairn(["sync", spool("living")])).toMatchObject({ code: 0 });
  });

  it("C18 ends with another code when something is left, and keeps it", async () => {
    await (
      await leave("away")
    ).exited;
    const away = await cairn(["sync", spool("away"), "--server", "127.0.0.1:1"]);
    expect(away.code).toBe(5);
    expect(away.stdout).toContain("cannot reach http://127.0.0.1:1");
    const folder = join(spool("away"), readdirSync(spool("away"))[0]!);
    const [segment] = listSegments(folder);
    const bytes = readFileSync(segment!.path);
    bytes.writeUInt32LE(2, 8);
    writeFileSync(segment!.path, bytes);
    const newer = await cairn(["sync", folder]);
    expect(newer.code).toBe(1);
    expect(newer.stdout).toContain("it is of version 2");
    bytes.writeUInt32LE(1, 8);
    writeFileSync(segment!.path, bytes);
    expect(await cairn(["sync", folder])).toMatchObject({ code: 0 });
  });

  it("C18 two at once deliver everything once", async () => {
    await (
      await leave("twice")
    ).exited;
    // Two processes: what one of them holds is not its own to the other.
    const sync = () => startCairn(["sync", spool("twice")], { env: { HOME: terminal.home } });
    const both = await Promise.all([sync(), sync()]);
    expect(
      both.map(({ code }) => code),
      both.map(({ stdout, stderr }) => stdout + stderr).join(""),
    ).toEqual([0, 0]);
    const { id } = await terminal.client.runs.getRun({ run: { alias: "twice" } });
    expect((await readNumbers(terminal.client, id, "a")).values).toEqual([0, 1, 2]);
  });

  it("C18 a folder that another process has delivered meanwhile counts as done", async () => {
    await (
      await leave("quicker")
    ).exited;
    const folder = join(spool("quicker"), readdirSync(spool("quicker"))[0]!);
    const other = () => syncWriter(folder, { connect: () => Promise.resolve(terminal.client) });
    const connect = async () => {
      expect(await other()).toMatchObject({ isDone: true, failure: undefined });
      expect(existsSync(folder)).toBe(false);
      return terminal.client;
    };
    expect(await syncWriter(folder, { connect })).toMatchObject({
      isDone: true,
      left: 0,
      failure: undefined,
    });
    expect(await other()).toMatchObject({ isDone: true, left: 0, failure: undefined });
  });

  it("C18, C6: a folder without an owner or with invalid content is named and not removed", async () => {
    const folder = join(spool("rubbish"), "f".repeat(32));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "00000001.frames"), "not a segment");
    const { code, stdout } = await cairn(["sync", spool("rubbish")]);
    // Its owner is unknown; it may be a moment old.
    expect(stdout).toContain("still being written");
    expect(code).toBe(0);
    expect(readdirSync(folder)).toEqual(["00000001.frames"]);
  });

  it("T2 a missing folder is named", async () => {
    const { code, stderr } = await cairn(["sync", "/no/such/folder"]);
    expect(code).toBe(3);
    expect(stderr).toContain('cannot read spool "/no/such/folder"');
    expect((await cairn(["sync"])).stdout).toContain("nothing to deliver");
  });
});
