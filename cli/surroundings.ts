import type { Readable, Writable } from "node:stream";
import type { WriteStream } from "node:tty";

/**
 * What a command line has of the process it runs in: `process` itself, or what a test gives it. Commands ask nothing
 * else for their environment, their input and their output, so that several can run in one process at a time. Only
 * what holds a real terminal (raw keys, the screen, a progress line) also listens for the end of the process, to give
 * the terminal back.
 */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Where settings of a project are looked for. A relative file of the command line is the process's own matter. */
  cwd(): string;
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  /** Ends the command at once, whatever it waits for. */
  exit(code: number): void;
  /** Puts another program in the place of the process; absent where that cannot be done. */
  execve?(file: string, argv: readonly string[], env: NodeJS.ProcessEnv): never;
}

export type Input = Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };

/** What only terminals have is absent elsewhere. */
export type Output = Writable & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows" | "getColorDepth">>;
