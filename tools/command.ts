import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

import { CHECKERS, ROOT } from "./sources.ts";

const TIME_LIMIT_MS = 60 * 60_000;

/** For child processes: our own tools, and the Node they need, come first. */
const OURS = [ROOT, CHECKERS].map((folder) => join(folder, "node_modules", ".bin"));
const PATH = [...OURS, process.env["PATH"] ?? ""].join(delimiter);

export interface CommandResult {
  /** undefined when the program could not be started or was killed. */
  code: number | undefined;
  /** Standard output and standard error in their order; "" when they were printed to the terminal. */
  output: string;
  seconds: number;
}

/** Runs a program at the top of the repository and waits for it; `show` passes its output on as it comes. */
export async function runCommand(
  command: readonly string[],
  options: { show: boolean; env?: NodeJS.ProcessEnv },
): Promise<CommandResult> {
  const start = performance.now();
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...options.env, PATH },
    stdio: options.show ? "inherit" : ["ignore", "pipe", "pipe"],
    timeout: TIME_LIMIT_MS,
  });
  const pieces: Buffer[] = [];
  child.stdout?.on("data", (piece: Buffer) => pieces.push(piece));
  child.stderr?.on("data", (piece: Buffer) => pieces.push(piece));
  const code = await new Promise<number | undefined>((done) => {
    child.on("error", (error) => {
      pieces.push(Buffer.from(`cannot run ${program}: ${error.message}\n`));
      done(undefined);
    });
    child.on("close", (exitCode) => done(exitCode ?? undefined));
  });
  return { code, output: Buffer.concat(pieces).toString(), seconds: (performance.now() - start) / 1000 };
}
