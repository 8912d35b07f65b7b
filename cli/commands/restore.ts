import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { chooseRuns, eachRun, tellBatch, type BatchOptions } from "../run-batch.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[runs...]", "name, id or its beginning, path or alias")
    .option("-n, --namespace <path>", "look only there and below")
    .option("--query <query>", "all runs in the trash that match, see docs/query.md")
    .addHelpText(
      "after",
      `
Examples:
  cairn restore first-try
  cairn restore --query 'namespace under "langtech"'`,
    )
    .action(async (words: string[], options: BatchOptions) => {
      const server = await cli.connect();
      const runs = await chooseRuns(server, words, options, true);
      const result = await eachRun(cli, "restoring", runs, (run) =>
        server.runs.restoreRun({ run: { id: run.id } }),
      );
      tellBatch(cli, "Restored", result);
    });
}
