/**
 * Runs the tests of sdk/python. They are written in Python, with unittest, because they test how Python
 * behaves: forks, signals, the end of an interpreter. Here each rule names the classes that prove it.
 */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { ROOT } from "../../tools/sources.ts";
import { pythonCommand } from "../../tools/needs.ts";

export const PACKAGE: string = join(ROOT, "sdk", "python");

export interface PythonOptions {
  /** Of the server the tests may use; absent for those that need none. */
  url?: string;
  env?: Record<string, string>;
  /** Folders in front of the module path. */
  path?: readonly string[];
  /** A named part may be missing on this machine, such as openssl or IPv6. */
  skipsMax?: number;
  timeoutMs?: number;
  /** Another one than that of all tests. */
  command?: string;
}

const TESTS_MS_MAX = 280_000;

export function python(): string {
  return process.env["CAIRN_TEST_PYTHON"] ?? pythonCommand();
}

/** Fails with what Python said unless every test of the names ran and passed. */
export async function runPythonTests(names: readonly string[], options: PythonOptions = {}): Promise<void> {
  const { status, output } = await runPython(["-W", "ignore", "-m", "unittest", ...names], {
    ...options,
    path: [...(options.path ?? []), PACKAGE],
  });
  const tail = output.split("\n").slice(-120).join("\n");
  expect(status, tail).toBe(0);
  const ran = Number(/^Ran (\d+) tests?/m.exec(output)?.[1] ?? 0);
  const skipped = Number(/skipped=(\d+)/.exec(output)?.[1] ?? 0);
  expect(ran, tail).toBeGreaterThan(0);
  // A test that is skipped proves nothing.
  expect(skipped, tail).toBeLessThanOrEqual(options.skipsMax ?? 0);
}

/** A server on disk for the tests of a file. */
export function useDiskServer(): () => ChildServer {
  let folder: string;
  let server: ChildServer;
  beforeAll(async () => {
    folder = makeFolder();
    server = await startChild(["--data", join(folder, "data")]);
  });
  afterAll(async () => {
    server.child.kill("SIGTERM");
    await server.exited;
    rmSync(folder, { recursive: true });
  });
  return () => server;
}

/** Runs modules or classes of sdk/python/tests beside a server on disk. */
export function usePythonTests(server = useDiskServer()): (...names: string[]) => Promise<void> {
  return (...names) =>
    runPythonTests(
      names.map((name) => `tests.${name}`),
      { url: server().url },
    );
}

export interface Outcome {
  status: number;
  output: string;
}

export function runPython(
  args: readonly string[],
  options: PythonOptions & { cwd?: string } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      options.command ?? python(),
      [...args],
      {
        cwd: options.cwd ?? PACKAGE,
        env: pythonEnvironment(options),
        timeout: options.timeoutMs ?? TESTS_MS_MAX,
        killSignal: "SIGKILL",
        maxBuffer: 64 << 20,
      },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : (child.exitCode ?? 1), output: stdout + stderr });
      },
    );
  });
}

/** What a program prints that is given the name of a file with this value in JSON. */
export async function askPython(program: string, value: unknown): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "cairn-ask-"));
  try {
    const path = join(folder, "value.json");
    writeFileSync(path, JSON.stringify(value));
    const { status, output } = await runPython(["-c", program, path], { path: [PACKAGE] });
    expect(status, output).toBe(0);
    return output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function pythonEnvironment(options: PythonOptions = {}): NodeJS.ProcessEnv {
  const path = (options.path ?? []).join(delimiter);
  return {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: "1",
    ...(path !== "" && { PYTHONPATH: path }),
    CAIRN_TEST_NODE: process.execPath,
    ...(options.url !== undefined && { CAIRN_TEST_URL: options.url }),
    ...options.env,
  };
}

/** The package as pip installs it, with its entry point, into a folder for the module path. */
export function installPackage(folder: string): string {
  const [source, target] = [join(folder, "source"), join(folder, "installed")];
  if (existsSync(target)) return target;
  // pip builds inside of the folder it is given.
  cpSync(PACKAGE, source, {
    recursive: true,
    filter: (path) => !/(?:__pycache__|\.egg-info|\.mypy_cache|\.ruff_cache|\/build|\/dist)$/.test(path),
  });
  const options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q"];
  execFileSync(python(), ["-m", "pip", "install", ...options, "--target", target, source], {
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 120_000,
  });
  return target;
}
