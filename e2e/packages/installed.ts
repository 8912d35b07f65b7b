/** Installs the packages of `dist/` in empty folders, as a user would, and runs what was installed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";

import { noteUncaught } from "#server/testing/child.ts";
import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../../tools/sources.ts";

export const DIST: string = join(ROOT, "dist");
export const VERSION: string = packageJson.version;
const COMMAND_MS_MAX = 240_000;

export function tarball(name: "cairn-tracker" | "cairn-sdk"): string {
  return join(DIST, `${name}-${VERSION}.tgz`);
}

/** An empty folder outside the checkout, with a home in it, until the end of the test file or of the test. */
export function makeOutside(removeLater: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "cairn-installed-"));
  removeLater(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** What npm and pip know about this machine, and nothing of Cairn, of the checkout and of the npm that runs the tests. */
export function outsideEnv(folder: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|CAIRN_|XDG_|NODE_|INIT_CWD|VIRTUAL_ENV|PYTHON|VITEST|FORCE_COLOR|CI$)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...npmSettings(),
    HOME: join(folder, "home"),
    NO_COLOR: "1",
    ...more,
  };
}

/** Where this user's npm keeps what it has downloaded, and its settings: both depend on HOME. */
function npmSettings(): NodeJS.ProcessEnv {
  const [cache, userconfig] = ["cache", "userconfig"].map((key) =>
    execFileSync("npm", ["config", "get", key], {
      encoding: "utf8",
      cwd: tmpdir(),
      stdio: ["ignore", "pipe", "ignore"],
    }).trim(),
  );
  return {
    npm_config_cache: cache,
    npm_config_userconfig: userconfig,
    npm_config_update_notifier: "false",
    npm_config_prefer_offline: "true",
  };
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Where {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Runs a program to its end. */
export async function runOutside(
  [program = "", ...args]: readonly string[],
  { cwd, env }: Where,
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: COMMAND_MS_MAX,
  });
  const ended: Ended = { code: null, signal: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (ended.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (ended.stderr += text));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { ...ended, code, signal };
}

/** As `runOutside`, and fails unless the program ends with 0. */
export async function mustRun(command: readonly string[], where: Where): Promise<string> {
  const { code, stdout, stderr } = await runOutside(command, where);
  expect(code, `${command.join(" ")}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

export async function npmInstall(where: Where, ...args: string[]): Promise<void> {
  await mustRun(["npm", "install", "--no-audit", "--no-fund", ...args], where);
}

export interface InstalledServer {
  child: ChildProcess;
  url: string;
  ended: Promise<Pick<Ended, "code" | "signal">>;
}

/** Starts a server by a command of an installed package, and waits until it listens. It is ended with the test. */
export async function startInstalled(
  [program = "", ...args]: readonly string[],
  { cwd, env }: Where,
): Promise<InstalledServer> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    errors.push(line);
    noteUncaught(line);
  });
  const greeting = createInterface({ input: child.stdout });
  const listening = (async () => {
    for await (const line of greeting) {
      const url = /listening on (\S+)/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error(`the server did not start:\n${errors.join("\n")}`);
  })();
  const url = await listening;
  child.stdout.resume();
  return { child, url, ended };
}

/** Checks that a server answers with its pages. */
export async function expectPages(url: string): Promise<void> {
  const health = await fetch(`${url}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: "alive" }]);
  const page = await fetch(`${url}/`);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain("<title>Cairn</title>");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  const asset = await fetch(`${url}${script}`, { headers: { "accept-encoding": "gzip" } });
  expect([asset.status, asset.headers.get("content-encoding")]).toEqual([200, "gzip"]);
}
