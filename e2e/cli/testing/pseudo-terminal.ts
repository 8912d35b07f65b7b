import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pythonCommand } from "../../../tools/needs.ts";
import { START } from "./start-cairn.ts";
import { VirtualScreen } from "./virtual-screen.ts";

const BRIDGE = fileURLToPath(new URL("./pty_bridge.py", import.meta.url));

/** A program in a real pseudo-terminal, and the screen a person would see. */
export interface PseudoTerminal {
  readonly screen: VirtualScreen;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: number): void;
  /** What it ended with; 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>;
  /** Ends it, whatever it does. */
  close(): Promise<void>;
}

export interface PseudoTerminalOptions {
  columns?: number;
  rows?: number;
  env?: NodeJS.ProcessEnv;
  /** Run by Node in the place of `cairn`. */
  script?: string;
}

export function openPseudoTerminal(
  words: readonly string[],
  { columns = 100, rows = 24, env = {}, script = START }: PseudoTerminalOptions = {},
): PseudoTerminal {
  const screen = new VirtualScreen(columns, rows);
  const child = spawn(
    pythonCommand(),
    [BRIDGE, String(columns), String(rows), process.execPath, script, ...words],
    {
      env: { PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  child.stdin.on("error", () => {});
  let broken: unknown;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    try {
      screen.write(text);
    } catch (thrown) {
      broken ??= thrown;
    }
  });
  const order = (value: object) => void child.stdin.write(`${JSON.stringify(value)}\n`);
  const ended = once(child, "close").then(([code]) => {
    if (broken !== undefined) throw broken;
    return code as number;
  });
  // Reported as a failure only to callers that wait for it.
  ended.catch(() => {});
  return {
    screen,
    type: (text) => order({ type: text }),
    resize: (wide, high) => {
      screen.resize(wide, high);
      order({ columns: wide, rows: high });
    },
    kill: (signal) => order({ kill: signal }),
    ended,
    close: async () => {
      if (child.exitCode === null) order({ kill: 9 });
      await ended;
    },
  };
}
