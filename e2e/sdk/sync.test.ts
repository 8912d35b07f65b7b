import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { FRAME_KIND } from "#sdk/spool/frame.ts";
import { readOwner } from "#sdk/spool/owner.ts";
import { discardRefused, sync } from "#sdk/sync.ts";
import { findByName, readNumbers, startJob, useWorld } from "./job.ts";

const world = useWorld();

/** A job that is offline and logs three times; the folder of its writer. */
async function leave(name: string, { env = {}, options = "", code = "" } = {}): Promise<string> {
  const spool = join(world.folder, name);
  const job = startJob(
    `const run = await cairn.init({ name: "${name}", spool: "${spool}", offline: true, capture: false, ${options} });
     for (let i = 0; i < 3; i++) { run.log({ a: i }); run.flush(); }
     ${code}
     await run.finish();`,
    { env: { HOME: join(world.folder, "home"), ...env } },
  );
  await job.exited;
  return join(spool, readdirSync(spool)[0]!);
}

describe("a job that ran without any server set", () => {
  it("C247 goes to the server that is set when its data is delivered, and to no other after that", async () => {
    const folder = await leave("unset", { code: `run.source("base");` });
    expect(readOwner(folder)).toMatchObject({ server: "http://127.0.0.1:4700", serverSet: false });
    const asked: string[] = [];
    const connect = async (server: string) => {
      asked.push(server);
      return new Cairn({ url: server || world.server.url });
    };
    expect(await sync(folder, { connect, dryRun: true })).toMatchObject([{ serverSet: false }]);
    const stop = new AbortController();
    const [first] = await sync(folder, { connect, signal: stop.signal, onEnvelope: () => stop.abort() });
    expect(first).toMatchObject({ isDone: false, server: world.server.url });
    expect(readOwner(folder)).toMatchObject({ server: world.server.url, serverSet: true });
    const [second] = await sync(folder, { connect });
    expect(second).toMatchObject({ isDone: true, left: 0, server: world.server.url, serverSet: true });
    expect(asked).toEqual(["", world.server.url]);
    const run = await findByName(world.client, "unset");
    expect((await readNumbers(world.client, run!.id, "a")).values).toEqual([0, 1, 2]);
  });

  it("C247 is distinguished from one with a server of the program, the environment or the login file, and from older spools", async () => {
    const config = join(world.folder, "config");
    mkdirSync(join(config, "cairn"), { recursive: true });
    const login = JSON.stringify({ default: world.server.url, servers: {} });
    writeFileSync(join(config, "cairn", "login.json"), login, { mode: 0o600 });
    const folders = [
      await leave("option", { options: `server: "${world.server.url}"` }),
      await leave("variable", { env: { CAIRN_SERVER: world.server.url } }),
      await leave("login", { env: { XDG_CONFIG_HOME: config } }),
      await leave("old"),
    ];
    const path = join(folders[3]!, "owner.json");
    const { serverSet, ...owner } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    expect(serverSet).toBe(false);
    writeFileSync(path, JSON.stringify({ ...owner, server: world.server.url }));
    for (const folder of folders) {
      const [report] = await sync(folder, { connect: async (url) => new Cairn({ url }) });
      expect(report).toMatchObject({ isDone: true, left: 0, serverSet: true });
    }
  });
});

describe("refused frames", () => {
  const connect = async (url: string) => new Cairn({ url });

  it("C245, C248: are named with the reason and where they are, now and later, until they are discarded", async () => {
    const folder = await leave("refused", {
      options: `server: "${world.server.url}"`,
      code: `run.describe("acc", { unit: "x".repeat(1_000) });
             run.log({ b: 1 });`,
    });
    const [report] = await sync(folder, { connect });
    expect(report).toMatchObject({ isDone: true, left: 0, refused: 1, descriptions: 0, lost: 0 });
    const run = await findByName(world.client, "refused");
    expect((await readNumbers(world.client, run!.id, "b")).values).toEqual([1]);
    const [frame] = report!.refusedFrames;
    expect(frame).toMatchObject({
      kind: FRAME_KIND.describe,
      what: 'the description of key "acc"',
      why: expect.stringContaining("cannot accept unit"),
      server: world.server.url,
      run: run!.id,
    });
    expect(existsSync(frame!.path)).toBe(true);
    // Again, and without what an earlier version did not write.
    rmSync(frame!.path.replace(/frame$/, "json"));
    const [again] = await sync(folder, { connect });
    expect(again).toMatchObject({ isDone: true, refused: 0, isAlive: false });
    expect(again!.refusedFrames).toMatchObject([
      { what: "the description of a key", why: "", path: frame!.path },
    ]);
    expect(discardRefused(folder)).toBe(1);
    expect(await sync(folder, { connect })).toMatchObject([{ isDone: true, refusedFrames: [] }]);
    expect(existsSync(folder)).toBe(false);
  });
});
