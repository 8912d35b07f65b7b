import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { endedWith, type Ended } from "../../cli/testing/start-cairn.ts";
import { PACKAGE, python } from "../python.ts";

export interface PythonRun {
  env?: NodeJS.ProcessEnv;
  stdin?: string;
  cwd?: string;
  /** Another Python than that of all tests, such as that of a virtual environment; it has the package itself. */
  command?: string;
}

const COMMAND_MS_MAX = 120_000;

/** Starts `python -m cairn ...words` with nothing of this process's environment but the path. */
export function openPythonCairn(words: readonly string[], options: PythonRun = {}): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    NO_COLOR: "1",
    PYTHONDONTWRITEBYTECODE: "1",
    ...(options.command === undefined && { PYTHONPATH: PACKAGE }),
    ...options.env,
  };
  const child = spawn(options.command ?? python(), ["-m", "cairn", ...words], {
    env,
    cwd: options.cwd,
    timeout: COMMAND_MS_MAX,
  });
  child.stdin.on("error", () => {}).end(options.stdin ?? "");
  return child;
}

/** Runs it to its end. */
export async function pythonCairn(words: readonly string[], options: PythonRun = {}): Promise<Ended> {
  const child = openPythonCairn(words, options);
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject).on("close", resolve);
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return endedWith(await code, stdout, stderr);
}

/** A home of its own for the tests of a file. */
export function useHome(): string {
  const home = mkdtempSync(join(tmpdir(), "cairn-home-"));
  afterAll(() => rm(home, { recursive: true, force: true }));
  return home;
}
