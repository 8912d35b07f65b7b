import { once } from "node:events";
import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { NODE_MIN } from "#base/start/node-version.js";
import { oldNode } from "../../tools/needs.ts";
import {
  expectPages,
  makeOutside,
  mustRun,
  npmInstall,
  outsideEnv,
  runOutside,
  startInstalled,
  tarball,
  type Where,
} from "./installed.ts";

const COMMAND = join("node_modules", "cairn-tracker", "bin", "cairn.cjs");
const OLD_VERSION = "22.12.0";

/** `cairn-tracker` installed with `flags` in a folder whose PATH has the Node of these tests. */
async function install(cwd: string, ...flags: string[]): Promise<Where> {
  const where = { cwd, env: outsideEnv(cwd) };
  await npmInstall(where, ...flags, tarball("cairn-tracker"));
  return where;
}

describe("the command on a machine with an old Node only", () => {
  const cwd = makeOutside(afterAll);
  let where: Where;

  beforeAll(async () => {
    where = await install(cwd, "--omit=optional");
  });

  it("T202 says in one sentence which Node it found, which it needs and what to do", async () => {
    const { code, stdout, stderr } = await runOutside([oldNode, COMMAND, "serve", "--port", "0"], where);
    expect(stdout).toBe("");
    expect(stderr).toBe(
      `cairn needs Node ${NODE_MIN} or newer and found only Node ${OLD_VERSION} (${realpathSync(oldNode)}): install a newer one, or install cairn-tracker with its optional packages, which bring one along.\n`,
    );
    expect(code).toBe(1);
  });

  it("T204 runs with a Node of the PATH that is new enough", async () => {
    const { env } = where;
    const path = [dirname(process.execPath), env["PATH"]].join(":");
    const newer = { ...where, env: { ...env, PATH: path } };
    const { url } = await startInstalled(
      [join("node_modules", ".bin", "cairn"), "serve", "--port", "0", "--data", "memory:"],
      newer,
    );
    await expectPages(url);
    const version = await mustRun(
      [join("node_modules", ".bin", "cairn"), "--version", "--server", url],
      newer,
    );
    expect(version).toContain(`node ${process.versions.node}`);
  });
});

describe("the command on a machine with an old Node, and the Node that npm brings", () => {
  const cwd = makeOutside(afterAll);
  let where: Where;

  beforeAll(async () => {
    where = await install(cwd);
  });

  it.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "T203 runs with the newer one, and %s ends the server",
    async (signal) => {
      const { child, url, ended } = await startInstalled(
        [oldNode, COMMAND, "serve", "--port", "0", "--data", "memory:"],
        where,
      );
      await expectPages(url);
      child.kill(signal);
      // As the server ends by itself on this signal.
      expect(await ended).toEqual(signal === "SIGHUP" ? { code: null, signal } : { code: 0, signal: null });
      await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    },
  );

  it("T203 passes arguments, output and the exit code through", async () => {
    const version = await mustRun([oldNode, COMMAND, "--version"], where);
    expect(version).not.toContain(OLD_VERSION);
    const wrong = await runOutside([oldNode, COMMAND, "lss", "--json"], where);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("cairn ls");
  });

  it("T203 ends by the signal that ended the command", async () => {
    const child = spawn(
      oldNode,
      [COMMAND, "log", "first", "--katib-style", "--server", "http://127.0.0.1:1"],
      {
        ...where,
        stdio: ["pipe", "ignore", "ignore"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    // The child of the launcher is there once it reads.
    await expect.poll(() => childrenOf(child.pid!)).toHaveLength(1);
    process.kill(childrenOf(child.pid!)[0]!, "SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
  });
});

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}
