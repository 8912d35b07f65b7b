import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { findServer } from "#sdk/login.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { runCairn } from "./cli/testing/cairn.ts";
import { startJob } from "./sdk/job.ts";
import { steadyPort } from "./steady-port.ts";

/** A server that requires the local secret, as on systems that cannot identify local callers, and programs of its user. */
const home = mkdtempSync(join(tmpdir(), "cairn-home-"));
const folder = join(home, ".config", "cairn");
const env = { HOME: home, XDG_CONFIG_HOME: "" };
let port: number;
let url: string;
let server: ChildServer;

async function start(flags: readonly string[] = ["--local-secret"]): Promise<void> {
  server = await startChild(["--data", join(home, "data"), "--port", String(port), ...flags], {
    env: { ...process.env, ...env },
  });
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  server.child.kill(signal);
  await server.exited;
}

beforeAll(async () => {
  port = await steadyPort();
  url = `http://127.0.0.1:${port}`;
  await start();
});

afterAll(async () => {
  await stop("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

async function client(): Promise<Cairn> {
  return new Cairn(await findServer({ server: url }, env));
}

async function countRuns(query: string): Promise<number> {
  return Number((await (await client()).runs.searchRuns({ query })).totalCount);
}

describe("S26: programs of the user who started the server", () => {
  it("S26 A30 the command line finds the secret by itself; in another home it is refused", async () => {
    for (const address of [url, `http://localhost:${port}`]) {
      const who = await runCairn(["whoami", "--json"], { env: { ...env, CAIRN_SERVER: address } });
      expect([who.code, who.json()], who.stderr).toMatchObject([0, { name: "owner" }]);
    }
    const other = await runCairn(["ls"], { env: { HOME: join(home, "other"), CAIRN_SERVER: url } });
    expect(other.code).not.toBe(0);
    expect(other.stderr).toContain("cairn login");
    // An address of this machine that the server has not bound does not get it.
    const elsewhere = await findServer({ server: `http://127.0.0.2:${port}` }, env);
    expect(elsewhere.token).toBeUndefined();
  });

  it("S26 A30 `cairn login` needs no token there and keeps none", async () => {
    const login = await runCairn(["login", url], { env });
    expect([login.code, login.stdout], login.stderr).toEqual([
      0,
      expect.stringContaining("as owner (owner)"),
    ]);
    expect(login.stdout).toContain("It needs no token from this machine.");
    expect(await readFile(join(folder, "login.json"), "utf8")).not.toContain("cairn_local_");
  });

  it("S26 A30 a file that other users may read is refused by name, also by cairn doctor", async () => {
    const path = join(folder, `local-${port}.json`);
    await chmod(path, 0o640);
    try {
      const ls = await runCairn(["ls"], { env: { ...env, CAIRN_SERVER: url } });
      expect([ls.code === 0, ls.stderr]).toEqual([
        false,
        expect.stringContaining(`cannot use "${path}": others may read it`),
      ]);
      const doctor = await runCairn(["doctor", "--json"], { env: { ...env, CAIRN_SERVER: url } });
      expect(doctor.json()).toContainEqual(expect.objectContaining({ check: "local secret", level: "bad" }));
    } finally {
      await chmod(path, 0o600);
    }
    const left = join(folder, "local-1.json");
    await writeFile(
      left,
      JSON.stringify({ address: "127.0.0.1", secret: "cairn_local_x", pid: 2 ** 22 + 1 }),
      { mode: 0o600 },
    );
    const doctor = await runCairn(["doctor", "--json"], { env: { ...env, CAIRN_SERVER: url } });
    const found = doctor.json() as { check: string; level: string; text: string }[];
    expect(found.filter(({ check }) => check === "local secret")).toEqual([
      expect.objectContaining({ level: "warn", text: expect.stringContaining(left) as string }),
    ]);
    rmSync(left);
  });

  it("S26 A30 a job in TypeScript continues over a restart with a new secret", async () => {
    const job = startJob(
      `const run = await cairn.init({ namespace: "typescript", name: "over", capture: false, backoff: { refusedMs: 100 } });
       run.log({ loss: 1 }, { step: 1 });
       await run.flush();
       const alive = setInterval(() => {}, 1_000);
       const asked = new Promise((resolve) => process.once("SIGUSR2", resolve));
       console.log("first");
       await asked;
       run.log({ loss: 0.5 }, { step: 2 });
       await run.finish();
       clearInterval(alive);`,
      { env: { ...env, CAIRN_SERVER: url } },
    );
    await expect.poll(() => job.lines, { timeout: 60_000 }).toContain("first");
    await stop("SIGKILL");
    await start();
    job.child.kill("SIGUSR2");
    expect((await job.exited).code, job.stderr()).toBe(0);
    expect(
      await countRuns('namespace = "typescript" and status = "finished" and metrics.loss.last = 0.5'),
    ).toBe(1);
  });

  it("S26 A30 where the system identifies local callers, a start removes an old secret file, and requires no secret", async () => {
    const path = join(folder, `local-${port}.json`);
    await stop("SIGKILL");
    expect(existsSync(path)).toBe(true);
    await start([]);
    expect(existsSync(path)).toBe(false);
    const who = await runCairn(["whoami", "--json"], { env: { ...env, CAIRN_SERVER: url } });
    expect(who.json()).toMatchObject({ name: "owner" });
  });
});
