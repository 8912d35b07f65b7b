import type { Command } from "commander";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { confirm } from "../prompt.ts";
import { chooseRuns, eachRun, nameOf, tellBatch, type BatchOptions } from "../run-batch.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<places...>", "runs by name, id or the beginning of one, path or alias; then the namespace")
    .usage("RUN… NAMESPACE [options]")
    .option("-n, --namespace <path>", "look for runs only there and below")
    .option("--query <query>", "all runs that match, see docs/query.md")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      `
Runs keep their ids and everything they have; who may read them is decided by the namespace they are in from now on. The
namespace is created where it is missing.

Examples:
  cairn mv first-try langtech/asr
  cairn mv first-try second-try langtech/asr
  cairn mv --query 'tags.study = "warmup"' -n langtech langtech/warmup --yes`,
    )
    .action(async (words: string[], options: BatchOptions) => {
      const target = words.at(-1)!;
      const named = words.slice(0, -1);
      if (named.length === 0 && options.query === undefined) {
        throw new CommandError(`cannot tell what to move: only ${JSON.stringify(target)} is given`, {
          exitCode: EXIT.usage,
          hint: "name runs and then the namespace, or select runs with --query",
        });
      }
      const server = await cli.connect();
      const runs = await chooseRuns(server, named, options, false);
      if (runs.length > 0 && options.query !== undefined) {
        const what = runs.length === 1 ? nameOf(runs[0]!) : countOf(runs.length, "run");
        await confirm(cli, `Move ${what} to ${target}?`, options.yes === true);
      }
      const result = await eachRun(cli, "moving", runs, (run) =>
        server.runs.moveRun({ run: { id: run.id }, namespace: target }),
      );
      tellBatch(cli, `Moved to ${target}:`, result);
    });
}
