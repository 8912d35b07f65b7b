import type { Readable, Writable } from "node:stream";
import type { WriteStream } from "node:tty";

/**
 * What a command uses of the process it runs in: `process` itself, or what a test gives it. Commands take their
 * environment, input and output only from here, so that several can run in one process at a time. Only code that holds
 * a real terminal (raw keys, the screen, a progress line) also listens for the end of the process, to restore the
 * terminal.
 */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Where settings of a project are looked for. Relative paths of the command line are resolved by the process. */
  cwd(): string;
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  /** Ends the command at once, also while it waits. */
  exit(code: number): void;
  /** Replaces the process with another program; absent where that is not possible. */
  execve?(file: string, argv: readonly string[], env: NodeJS.ProcessEnv): never;
}

export type Input = Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };

/** Members that only terminals have are absent elsewhere. */
export type Output = Writable & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows" | "getColorDepth">>;
