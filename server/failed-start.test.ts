import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { startThread, type StartThread } from "#store/sqlite/thread.ts";
import { serve } from "./serve.ts";
import { readSettings } from "./settings/settings.ts";
import { openStores } from "./stores.ts";
import { preloading, startChild } from "./testing/child.ts";
import { becoming, OTHER_UID } from "./testing/other-user.ts";
import { makeFolder } from "./testing/servers.ts";

const START = fileURLToPath(new URL("start.js", import.meta.url));

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const inThread = (name: string, code: string) =>
  preloading(`import { threadName } from "node:worker_threads"; if (threadName === "${name}") { ${code} }`);

const withoutRun = preloading(`import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      if (url.endsWith("/server/run.ts")) throw new Error("too many open files");
      return next(url, context);
    },
  });`);

/** As in a container that runs as any user id. */
const withoutHome = { ...becoming(OTHER_UID), HOME: undefined, XDG_CONFIG_HOME: undefined };

/** Rejects when the process does not end by itself. */
function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [START, "--port", "0", ...argv],
      { env, timeout: 60_000 },
      (error, _, stderr) => {
        if (error?.killed === true) reject(new Error(`the server did not end: ${stderr}`));
        else resolve({ code: error === null ? 0 : Number(error.code), stderr });
      },
    );
  });
}

describe("a start that fails", { timeout: 120_000 }, () => {
  it.each([
    ["code of it cannot be loaded", withoutRun, "too many open files"],
    ["the run index crashes", inThread("columns", `throw new Error("no index")`), "no index"],
    ["the writer crashes", inThread("sqlite writer", `throw new Error("no writer")`), "no writer"],
    ["the writer ends", inThread("sqlite writer", "process.exit(0)"), "its thread has ended"],
    ["the reader crashes", inThread("sqlite reader", `throw new Error("no reader")`), "no reader"],
    ["the reader ends", inThread("sqlite reader", "process.exit(0)"), "its thread has ended"],
  ])("B12 ends the process with the cause when %s", async (_, env, cause) => {
    const ended = await run(["--data", join(folderForTest(), "data")], env);
    expect(ended).toEqual({ code: 1, stderr: expect.stringContaining(cause) as string });
  });

  it("B12 ends the process when the store cannot be opened", async () => {
    const folder = folderForTest();
    writeFileSync(join(folder, "cairn.db"), "not a database at all ".repeat(500));
    const ended = await run(["--data", folder], process.env);
    expect(ended).toEqual({ code: 1, stderr: expect.stringContaining("is not a database") as string });
  });

  it("B12 reports why it failed, and closes every store, also when one cannot be closed", async () => {
    const stops: (() => Promise<void>)[] = [];
    const start: StartThread = async (...asked) => {
      const thread = await startThread<never>(...asked);
      if (asked[0].role === "writer") stops.push(thread.stop);
      return thread;
    };
    const argv = ["--tls-cert", "no-cert", "--tls-key", "no-key", "--data", join(folderForTest(), "data")];
    const settings = readSettings(argv, {});
    const stores = await openStores(settings, start);
    for (const stop of stops) await stop();
    await expect(serve(settings, stores, pino({ level: "silent" }))).rejects.toThrow("no-cert");
    await expect(stores.close()).rejects.toMatchObject({ reason: "STORAGE_ENDED" });
    await expect(stores.blobs.find("0".repeat(64))).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a user without a home directory", { timeout: 120_000 }, () => {
  const open = () => {
    const folder = folderForTest();
    chmodSync(folder, 0o777);
    mkdirSync(join(folder, "cwd"));
    return { data: join(folder, "data"), cwd: join(folder, "cwd") };
  };

  it.each([[undefined], [""]])("B12 A30 starts a server in a folder, with HOME=%j", async (HOME) => {
    const { data, cwd } = open();
    const server = await startChild(["--data", data, "--local-secret"], {
      cwd,
      env: { ...withoutHome, HOME },
    });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    expect(server.greeting.join("\n")).toContain("Cairn is listening");
    await expect.poll(() => server.log.join("\n")).toContain("no client finds the local secret");
    server.child.kill("SIGTERM");
    expect((await server.exited).code).toBe(0);
  });

  it("B12 must name the folder", async () => {
    const { code, stderr } = await run([], withoutHome);
    expect([code, stderr]).toEqual([1, expect.stringContaining("--data FOLDER")]);
    expect(stderr).not.toContain("    at ");
  });
});
