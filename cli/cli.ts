import type { Cairn } from "#sdk/client.ts";
import type { Progress } from "./output/progress.ts";
import type { Surroundings } from "./surroundings.ts";

/** Of output that is not a terminal. */
export const COLUMNS_DEFAULT = 80;

/** What every command uses to talk to the server and the user. */
export interface Cli {
  /** Options before or after the name of the command. Read them inside the action. */
  readonly options: GlobalOptions;
  /** The arguments after the name of the command, as they were typed. */
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Standard input and output, signals, the folder: what is not one of the fields here. */
  readonly surroundings: Surroundings;
  /** The server of --server, CAIRN_SERVER or the login file. Nothing is sent before the first call. */
  connect(): Promise<Cairn>;
  /** Result for a person; never called with --json. */
  print(text: string): void;
  /** Result for a program: one JSON document. The caller has checked `options.json`. */
  printJson(value: unknown): void;
  /** What the process ends with, unless the command throws; 0 by default. */
  endWith(code: ExitCode): void;
  /** A notice on standard error: not part of the result. */
  note(text: string): void;
  /** Shows how far something is that takes longer than a second; silent with --json and without a terminal. */
  progress(title: string, total?: number): Progress;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Bits that the terminal has for a colour; absent where standard output is not one. */
  readonly colourDepth?: number;
  /** Whether standard output is a terminal and colours are enabled. */
  readonly colour: boolean;
  /** Columns of the terminal, or 80. */
  readonly columns: number;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  readonly interactive: boolean;
  /**
   * Aborted by Ctrl-C; the command then ends with 130. A command that has read it gets a few seconds to clean up. A
   * command that never reads it is ended at once.
   */
  readonly interrupted: AbortSignal;
}

export interface GlobalOptions {
  server?: string;
  json?: boolean;
}

/**
 * How a command fails: the message goes to standard error as `cairn: …`, and the
 * hint on a line of its own.
 */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(
    message: string,
    { exitCode = EXIT.failed, hint }: { exitCode?: ExitCode; hint?: string } = {},
  ) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Documented in docs/guides/cli.md. */
export const EXIT = {
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** No such run, namespace or file. */
  notFound: 3,
  /** The server refuses: no credential, or not enough rights. */
  refused: 4,
  /** No server answers. */
  unreachable: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
