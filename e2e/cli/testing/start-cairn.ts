import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { noteExit, noteUncaught } from "#server/testing/child.ts";

/** The way in of the program. */
export const START: string = fileURLToPath(new URL("../../../cli/start.js", import.meta.url));
const COMMAND_MS_MAX = 240_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. */
  json(): unknown;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  /** Where settings of a project are looked for. */
  cwd?: string;
  stdin?: string;
  /** Whether standard output and standard error are a terminal; only in this process. */
  isTerminal?: boolean;
}

/** Runs `cairn ...words` as a program of its own, for what only a process has: exit codes, limits, a slow start. */
export async function startCairn(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [START, ...words], {
    cwd: options.cwd,
    env: environment(options),
    timeout: COMMAND_MS_MAX,
  });
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject).on("close", (ended, signal) => {
    noteExit(child, signal);
    resolve(ended);
  });
  child.stdin.on("error", () => {}).end(options.stdin ?? "");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  for (const line of stderr.split("\n")) noteUncaught(line);
  return endedWith(await code, stdout, stderr);
}

/** Nothing of this process's environment but the path. */
export function environment({ env }: RunOptions): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], NO_COLOR: "1", ...env };
}

export function endedWith(code: number | null, stdout: string, stderr: string): Ended {
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}
