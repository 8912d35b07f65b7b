import type { Command } from "commander";
import { CommandError, type Cli } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { confirm } from "../prompt.ts";
import { chooseRuns, eachRun, nameOf, tellBatch, type BatchOptions } from "../run-batch.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[runs...]", "name, id or its beginning, path or alias")
    .option("-n, --namespace <path>", "look only there and below")
    .option("--query <query>", "all runs that match, see docs/query.md")
    .option("--purge", "destroy runs that are in the trash; this cannot be undone")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      `
Runs in the trash are kept until they are purged; \`cairn restore\` brings them back.

Examples:
  cairn rm first-try
  cairn rm --query 'status = "failed" and ended < now-30d'
  cairn rm --purge --query 'ended < now-90d' --yes`,
    )
    .action(async (words: string[], options: BatchOptions & { purge?: boolean }) => {
      const server = await cli.connect();
      const purge = options.purge === true;
      const runs = await chooseRuns(server, words, options, purge);
      const outside = purge ? runs.find((run) => run.deletedUs === 0n) : undefined;
      if (outside !== undefined) {
        throw new CommandError(`cannot purge run "${outside.id}": it is not in the trash`, {
          hint: `move it there first: \`cairn rm ${outside.id}\``,
        });
      }
      // Runs that were named one by one can be restored the same way.
      if (runs.length > 0 && (purge || options.query !== undefined)) {
        const what = runs.length === 1 ? nameOf(runs[0]!) : countOf(runs.length, "run");
        const question = purge ? `Permanently destroy ${what}?` : `Move ${what} to the trash?`;
        await confirm(cli, question, options.yes === true);
      }
      const result = await eachRun(cli, purge ? "purging" : "moving to the trash", runs, (run) => {
        const ref = { run: { id: run.id } };
        return purge ? server.runs.purgeRun(ref) : server.runs.deleteRun(ref);
      });
      tellBatch(cli, purge ? "Destroyed" : "Moved to the trash:", result);
    });
}
