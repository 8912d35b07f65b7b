import { Command } from "commander";
import { COLUMNS_DEFAULT, type Cli } from "./cli.ts";
import { COMMANDS, type CommandRow } from "./command-table.ts";

const EXAMPLES = `
Examples:
  cairn serve                                  start a server on this machine
  cairn demo                                   fill it with example runs
  cairn ls 'metrics.val_acc.max > 0.9'         the runs that match
  cairn plot RUN train/loss                    a chart in the terminal`;

export const ROWS: readonly CommandRow[] = COMMANDS.flatMap((group) => group.rows);

/** All commands by name and summary; only `wanted` is loaded with its arguments and options. */
export async function buildProgram(cli: Cli, wanted: CommandRow | undefined): Promise<Command> {
  const { stdout } = cli.surroundings;
  const program = new Command("cairn")
    .description("Records what training jobs did, finds the best models, explains why two runs differ.")
    .usage("COMMAND [options]")
    .helpCommand(false)
    .helpOption("-h, --help", "print help; `cairn COMMAND --help` for one command")
    .option("--server <url>", "the server to talk to (also CAIRN_SERVER, or `cairn login`)")
    .option("--json", "print the result as one JSON document")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    // Usage errors are printed where all errors are.
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => void stdout.write(text),
      getOutHelpWidth: () => stdout.columns ?? COLUMNS_DEFAULT,
    });
  program.addHelpText("after", EXAMPLES);
  for (const group of COMMANDS) {
    program.commandsGroup(`${group.title}:`);
    for (const row of group.rows) {
      const command = program.command(row.name).description(row.summary);
      if (row === wanted) (await row.load()).default(command, cli);
    }
  }
  return program;
}
