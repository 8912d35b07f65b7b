import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asNpmStart } from "../load/measure.ts";
import {
  expectPages,
  makeOutside,
  mustRun,
  npmInstall,
  outsideEnv,
  runOutside,
  startInstalled,
  tarball,
  VERSION,
  type Where,
} from "./installed.ts";

/** Besides Node. */
const INSTALLED_BYTES_MAX = 60_000_000;

/** `cairn-tracker` in an empty folder, with the Node that npm brings. */
let where: Where;

const cwd = makeOutside(afterAll);

beforeAll(async () => {
  where = { cwd, env: outsideEnv(cwd) };
  await npmInstall(where, tarball("cairn-tracker"));
});

describe("cairn-tracker, installed from its file in an empty folder", () => {
  it("T200, T206 serves its API and its pages, with the flags of Node that npm start gives", async () => {
    const { child, url, ended } = await startInstalled(
      ["npx", "--no-install", "cairn", "serve", "--port", "0", "--data", join(where.cwd, "data")],
      where,
    );
    await expectPages(url);
    expect(
      await mustRun(
        ["npx", "--no-install", "cairn", "log", "first", "loss=0.5", "--create", "-n", "demo"],
        atServer(url),
      ),
    ).toBeDefined();
    const shown = await mustRun(["npx", "--no-install", "cairn", "show", "first", "--json"], atServer(url));
    expect(JSON.parse(shown)).toMatchObject({ name: "first", namespace: "demo" });
    const server = findServer(join(where.cwd, "data"));
    const { nodeFlags = [] } = asNpmStart();
    expect(server.words.slice(1, 1 + nodeFlags.length)).toEqual(nodeFlags);
    // npm passes the signal on only to the shell in which it runs the command.
    process.kill(server.pid, "SIGTERM");
    expect(await ended).toMatchObject({ signal: null });
    expect(child.exitCode).toBe(0);
  });

  it("T210 ends with the npx that started it", async () => {
    const data = join(where.cwd, "data-of-npx");
    const command = ["npx", "--no-install", "cairn", "serve", "--port", "0", "--data", data];
    const { child, url, ended } = await startInstalled(command, where);
    const server = findServer(data);
    expect(server.pid).not.toBe(child.pid);
    child.kill("SIGTERM");
    await ended;
    await expect.poll(() => existsSync(`/proc/${server.pid}`), { timeout: 30_000 }).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("T201 has compiled JavaScript and no TypeScript, and takes less than 60 MB besides Node", () => {
    const modules = join(where.cwd, "node_modules");
    expect(readdirSync(modules).filter((name) => !name.startsWith("."))).toEqual([
      "cairn-tracker",
      expect.stringMatching(/^node-/),
    ]);
    const files = globSync("**/*", { cwd: join(modules, "cairn-tracker"), withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.filter((path) => /\.(?:[cm]?ts|tsx|map)$|testing|\.test\.|\.bench\./.test(path))).toEqual(
      [],
    );
    const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(INSTALLED_BYTES_MAX);
    expect(existsSync(join(modules, "cairn-tracker", "web", "build-pages.js"))).toBe(false);
  });

  it("T201 has the licences of the packages that are compiled in, and the wheel of the Python client", () => {
    const folder = join(where.cwd, "node_modules", "cairn-tracker");
    expect(readFileSync(join(folder, "licenses.md"), "utf8")).toContain("## pino - ");
    expect(readFileSync(join(folder, "web", "dist", "licenses.md"), "utf8")).toContain("## react - ");
    expect(readdirSync(join(folder, "install"))).toEqual([`cairn_tracker-${VERSION}-py3-none-any.whl`]);
  });

  it("T205 keeps compiled code in the cache folder of the user", async () => {
    await runOutside(["npx", "--no-install", "cairn", "--help"], where);
    expect(
      globSync("*/*", { cwd: join(where.cwd, "home", ".cache", "cairn", "code") }).length,
    ).toBeGreaterThan(10);
    const other = join(where.cwd, "cache");
    await runOutside(["npx", "--no-install", "cairn", "--help"], {
      ...where,
      env: { ...where.env, XDG_CACHE_HOME: other },
    });
    expect(existsSync(join(other, "cairn", "code"))).toBe(true);
  });

  it("T200 completes commands in the shell", async () => {
    const script = await mustRun(["npx", "--no-install", "cairn", "completion", "bash"], where);
    expect(script).toContain("complete ");
  });
});

function atServer(url: string): Where {
  return { ...where, env: { ...where.env, CAIRN_SERVER: url } };
}

/** The process of the server with this data folder. */
function findServer(data: string): { pid: number; words: string[] } {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (words.some((word) => word.endsWith("server/start.js")) && words.includes(data))
        return { pid: Number(pid), words };
    } catch {
      // It has ended.
    }
  }
  throw new Error(`no server has the data folder ${data}`);
}
