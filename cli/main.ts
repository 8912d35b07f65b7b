import { setTimeout as delay } from "node:timers/promises";
import { nearest } from "#base/nearest.ts";
import type { CommandRow } from "./command-table.ts";
import { COLUMNS_DEFAULT, CommandError, EXIT, type Cli, type ExitCode, type GlobalOptions } from "./cli.ts";
import { explain, writeError } from "./explain.ts";
import { Progress } from "./output/progress.ts";
import { buildProgram, ROWS } from "./program.ts";
import type { Surroundings } from "./surroundings.ts";

/** How long a command may clean up after Ctrl-C. */
const CLEAN_UP_MS = 5_000;
/** Options that are also accepted before the name of a command. */
const HELP: ReadonlySet<string> = new Set(["-h", "--help"]);

/** Runs one command line, by default that of this process; returns what it should end with. */
export async function main(argv: readonly string[], surroundings: Surroundings = process): Promise<number> {
  const { options, name, words, stray } = readLine(argv);
  const { cli, ending } = makeCli(options, words, surroundings);
  const { interrupt } = ending;
  surroundings.on("SIGINT", () => onCtrlC(ending, surroundings));
  // `cairn ls | head` is not a failure.
  for (const output of [surroundings.stdout, surroundings.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      surroundings.exit(0);
    });
  }
  try {
    if (name === "__complete") {
      const { complete } = await import("./complete.ts");
      await complete(cli, words);
      return 0;
    }
    const row = ROWS.find((each) => each.name === name);
    if (row === undefined && name !== undefined && !stray) throw unknownCommand(name, ROWS);
    const program = await buildProgram(cli, stray ? undefined : row);
    if (row === undefined || stray) {
      // With unknown options it is not clear which word is the command.
      if (words.length > 0) await program.parseAsync([...words], { from: "user" });
      program.outputHelp();
      return 0;
    }
    await program.parseAsync([row.name, ...words], { from: "user" });
    return interrupt.signal.aborted ? EXIT.interrupted : ending.code;
  } catch (thrown) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    const failure = await explain(thrown, ending.connectedTo, cli.env);
    if (failure === undefined) return 0;
    writeError(surroundings.stderr, failure, options.json === true);
    if (cli.env["CAIRN_DEBUG"]) surroundings.stderr.write(`${(thrown as Error).stack ?? ""}\n`);
    return failure.exitCode;
  }
}

/** State of a command that decides how it ends. */
interface Ending {
  code: ExitCode | 0;
  /** The server that an error is about; "" before there is one. */
  connectedTo: string;
  /** Whether the command looks after Ctrl-C itself. */
  isListening: boolean;
  readonly interrupt: AbortController;
}

function onCtrlC({ isListening, interrupt }: Ending, surroundings: Surroundings): void {
  const exit = () => surroundings.exit(EXIT.interrupted);
  // A second press ends it at once.
  if (!isListening || interrupt.signal.aborted) return exit();
  interrupt.abort();
  void delay(CLEAN_UP_MS, undefined, { ref: false }).then(exit);
}

interface Line {
  options: GlobalOptions;
  /** Of the command; undefined when only options are there. */
  name: string | undefined;
  /** All others, without the global options. */
  words: string[];
  /** Whether an option of a command comes before its name. */
  stray: boolean;
}

/**
 * Extracts the global options. Done before the commands are known, so that an error in the rest is printed in the right
 * format.
 */
function readLine(argv: readonly string[]): Line {
  const line: Line = { options: {}, name: undefined, words: [], stray: false };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === "--") {
      line.words.push(...argv.slice(i));
      break;
    }
    if (word === "--json") line.options.json = true;
    else if (word === "--server" && argv[i + 1] !== undefined) line.options.server = argv[++i]!;
    else if (word.startsWith("--server=")) line.options.server = word.slice("--server=".length);
    else if (line.name === undefined && !word.startsWith("-")) line.name = word;
    else {
      line.words.push(word);
      line.stray ||= line.name === undefined && !HELP.has(word);
    }
    // Options after a command line of another program are not ours.
    if (line.name === "__complete") return { ...line, words: argv.slice(i + 1) };
  }
  if (line.name === undefined && (line.words[0] === "--version" || line.words[0] === "-V")) {
    return { ...line, name: "version", words: line.words.slice(1), stray: false };
  }
  if (line.name === "help") return { ...line, name: line.words[0], words: ["--help"] };
  return line;
}

function unknownCommand(wanted: string, rows: readonly CommandRow[]): CommandError {
  const close = nearest(
    wanted,
    rows.map(({ name }) => name),
  );
  const hint = close === undefined ? "`cairn --help` lists all commands" : `did you mean \`cairn ${close}\`?`;
  return new CommandError(`unknown command "${wanted}"`, { exitCode: EXIT.usage, hint });
}

function makeCli(
  options: GlobalOptions,
  words: readonly string[],
  surroundings: Surroundings,
): { cli: Cli; ending: Ending } {
  const { stdout, stderr, stdin, env } = surroundings;
  const ending: Ending = {
    code: 0,
    connectedTo: "",
    isListening: false,
    interrupt: new AbortController(),
  };
  const isTerminal = stdout.isTTY === true;
  const depth = isTerminal ? stdout.getColorDepth?.(env) : undefined;
  const cli: Cli = {
    options,
    words,
    env,
    surroundings,
    isTerminal,
    ...(depth !== undefined && { colourDepth: depth }),
    colour: options.json !== true && wantsColour(env, isTerminal),
    columns: stdout.columns || Number(env["COLUMNS"]) || COLUMNS_DEFAULT,
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    get interrupted() {
      ending.isListening = true;
      return ending.interrupt.signal;
    },
    connect: async () => {
      const [{ Cairn }, { findServer }] = await Promise.all([
        import("#sdk/client.ts"),
        import("#sdk/login.ts"),
      ]);
      const found = await findServer(options, env);
      ending.connectedTo = found.url;
      return new Cairn(found);
    },
    endWith: (code) => void (ending.code = code),
    print: (text) => void stdout.write(`${text}\n`),
    printJson: (value) => void stdout.write(`${JSON.stringify(value, jsonValue, 2)}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    progress: (title, total) =>
      new Progress(title, total, stderr.isTTY === true && options.json !== true ? stderr : undefined),
  };
  return { cli, ending };
}

/** https://no-color.org, and FORCE_COLOR for pipes into a pager. */
function wantsColour(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return isTerminal && env["TERM"] !== "dumb";
}

function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Float64Array) return [...value];
  return value;
}
