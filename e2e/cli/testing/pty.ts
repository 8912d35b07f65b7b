import { spawn } from "node:child_process";
import { expect } from "vitest";
import { START } from "./start-cairn.ts";

const COMMAND_MS_MAX = 240_000;

/** A command line on a real pseudo-terminal. */
export interface PtyRun {
  /** All that was written to the terminal so far, with its control sequences. */
  readonly screen: string;
  type(text: string): void;
  /** Resolves once the terminal shows the text. */
  shows(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

/** Runs a shell command on a terminal of its own, made by script(1). `$CAIRN` in it is this program. */
export function runOnTerminal(shell: string, env: NodeJS.ProcessEnv = {}): PtyRun {
  const child = spawn("script", ["-qfec", shell, "/dev/null"], {
    env: {
      PATH: process.env["PATH"],
      TERM: "xterm",
      SHELL: "/bin/sh",
      CAIRN: `${process.execPath} ${START}`,
      ...env,
    },
    timeout: COMMAND_MS_MAX,
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (screen += text));
  child.stdin.on("error", () => {});
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return {
    get screen() {
      return screen;
    },
    type: (text) => void child.stdin.write(text),
    shows: (text) => expect.poll(() => screen).toContain(text),
    ended,
  };
}
