import { Command, CommanderError } from "commander";
import { nearest } from "#base/nearest.ts";
import { CommandError, EXIT, type Cli, type ExitCode, type GlobalOptions } from "./cli.ts";
import { COMMANDS, type CommandRow } from "./command-table.ts";
import { Progress } from "./output/progress.ts";

let connectedTo = "";

const EXAMPLES = `
Examples:
  cairn serve                                  start a server on this machine
  cairn demo                                   fill it with something to look at
  cairn ls 'metrics.val_acc.max > 0.9'         the runs that match
  cairn plot RUN train/loss                    a chart in the terminal`;

const interrupt = new AbortController();
process.on("SIGINT", () => {
  // Who presses it twice does not want to wait.
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort();
});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // `cairn ls | head` is no failure.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

/** Runs one command line; returns what the process should end with. */
export async function main(argv: readonly string[]): Promise<number> {
  const program = new Command("cairn");
  const options = globalOptions(argv);
  const cli = makeCli(options);
  program
    .description("Records what training jobs did, finds the best models, explains why two runs differ.")
    .usage("COMMAND [options]")
    .helpCommand(false)
    .helpOption("-h, --help", "print help; `cairn COMMAND --help` for one command")
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text.replace(/^error: /, "cairn: ")) });
  addGlobals(program);
  program.addHelpText("after", EXAMPLES);
  const wanted = firstWord(argv) ?? (argv.includes("--version") ? "version" : undefined);
  const rows = COMMANDS.flatMap((group) => group.rows);
  const row = rows.find(({ name }) => name === wanted);
  try {
    if (row === undefined && wanted !== undefined) throw unknownCommand(wanted, rows);
    for (const group of COMMANDS) {
      program.commandsGroup(`${group.title}:`);
      for (const each of group.rows) {
        const command = addGlobals(program.command(each.name).description(each.summary)).exitOverride();
        if (each === row) (await each.load()).default(command, cli);
      }
    }
    if (wanted === undefined) {
      program.outputHelp();
      return 0;
    }
    const words = argv.filter((word) => word !== "--version" || wanted !== "version");
    await program.parseAsync(firstWord(argv) === undefined ? [...words, wanted] : words, { from: "user" });
    return interrupt.signal.aborted ? EXIT.interrupted : Number(process.exitCode ?? 0);
  } catch (thrown) {
    return await explain(thrown, cli);
  }
}

/** Every command takes them before and after its name. */
function addGlobals(command: Command): Command {
  return command
    .option("--server <url>", "the server to talk to (also CAIRN_SERVER, or `cairn login`)")
    .option("--json", "print the result as one JSON document")
    .allowExcessArguments(false);
}

/** Read before the commands are known, so that an error in the rest can be printed the right way. */
function globalOptions(argv: readonly string[]): GlobalOptions {
  const options: GlobalOptions = {};
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === "--") break;
    if (word === "--json") options.json = true;
    else if (word === "--server" && argv[i + 1] !== undefined) options.server = argv[++i]!;
    else if (word.startsWith("--server=")) options.server = word.slice("--server=".length);
  }
  return options;
}

/** The name of the command: the first word that is neither an option nor the value of --server. */
function firstWord(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === "--server") i++;
    else if (!argv[i]!.startsWith("-")) return argv[i];
  }
  return undefined;
}

function unknownCommand(wanted: string, rows: readonly CommandRow[]): CommandError {
  const close = nearest(
    wanted,
    rows.map(({ name }) => name),
  );
  const hint = close === undefined ? "`cairn --help` lists all commands" : `did you mean \`cairn ${close}\`?`;
  return new CommandError(`there is no command "${wanted}"`, { exitCode: EXIT.usage, hint });
}

function makeCli(options: GlobalOptions): Cli {
  const colour = process.stdout.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  return {
    options,
    env: process.env,
    colour,
    columns: process.stdout.columns ?? Number(process.env["COLUMNS"] || 80),
    interrupted: interrupt.signal,
    connect: async () => {
      const [{ Cairn }, { findServer }] = await Promise.all([
        import("#sdk/client.ts"),
        import("#sdk/login.ts"),
      ]);
      const found = await findServer(options);
      connectedTo = found.url;
      return new Cairn(found);
    },
    print: (text) => void process.stdout.write(`${text}\n`),
    printJson: (value) => void process.stdout.write(`${JSON.stringify(value, jsonValue, 2)}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    progress: (title, total) =>
      new Progress(title, total, process.stderr.isTTY && options.json !== true ? process.stderr : undefined),
  };
}

function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value;
}

async function explain(thrown: unknown, cli: Cli): Promise<ExitCode | 0> {
  // Commander has printed help or its own complaint.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT.usage;
  const told = thrown instanceof CommandError ? thrown : await fromServer(thrown);
  if (cli.interrupted.aborted) return EXIT.interrupted;
  if (cli.options.json === true) {
    const error = { message: told.message, ...(told.hint && { hint: told.hint }), exitCode: told.exitCode };
    process.stderr.write(`${JSON.stringify({ error })}\n`);
  } else {
    process.stderr.write(`cairn: ${told.message}\n${told.hint ? `  ${told.hint}\n` : ""}`);
  }
  return told.exitCode;
}

async function fromServer(thrown: unknown): Promise<CommandError> {
  const [{ Code, ConnectError }, { Failure }] = await Promise.all([
    import("@connectrpc/connect"),
    import("#sdk/failure.ts"),
  ]);
  // What no call threw is said as it is.
  if (!(thrown instanceof ConnectError || thrown instanceof Failure) && thrown instanceof Error) {
    if (!("cause" in thrown) || thrown.name !== "TypeError") return new CommandError(thrown.message);
  }
  const { code, message, hint } = Failure.from(thrown, connectedTo);
  const exits: Partial<Record<number, ExitCode>> = {
    [Code.NotFound]: EXIT.notFound,
    [Code.Unauthenticated]: EXIT.refused,
    [Code.PermissionDenied]: EXIT.refused,
    [Code.Unavailable]: EXIT.unreachable,
    [Code.DeadlineExceeded]: EXIT.unreachable,
  };
  const more = code === Code.Unauthenticated ? hint || "log in with `cairn login`" : hint;
  return new CommandError(message, {
    exitCode: exits[code] ?? EXIT.failed,
    ...(more !== "" && { hint: more }),
  });
}
