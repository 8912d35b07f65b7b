import type { Command } from "commander";
import { nearest } from "#base/nearest.ts";
import { CommandError, EXIT, type Cli } from "../../cli.ts";
import { LONG_CALL } from "../../long-call.ts";
import { printable } from "../../output/text.ts";
import { formatAgo } from "#lang/words/times.ts";
import { confirm } from "../../prompt.ts";
import { jsonBackup } from "./backup.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<backup>", "its name, see `cairn backup --list`")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      `
What the server holds now is first saved as another backup, named before-restore-….

Examples:
  cairn restore-backup before-upgrade
  cairn restore-backup before-upgrade --yes --json`,
    )
    .action(async (name: string, options: { yes?: boolean }) => {
      const server = await cli.connect();
      const { backups } = await server.system.listBackups({});
      const found = backups.find((backup) => backup.name === name);
      if (found === undefined) {
        const near = nearest(
          name,
          backups.map((backup) => backup.name),
        );
        throw new CommandError(`cannot find backup "${name}"`, {
          exitCode: EXIT.notFound,
          hint: near === undefined ? "`cairn backup --list` lists them" : `did you mean ${near}?`,
        });
      }
      const question = `Replace everything that ${server.url} holds with ${printable(name)} of ${formatAgo(found.createdUs)}?`;
      await confirm(cli, question, options.yes === true);
      const { restored, keptAside } = await server.system.restoreBackup({ name }, LONG_CALL);
      if (cli.options.json === true) {
        cli.printJson({ restored: jsonBackup(restored!), keptAside: jsonBackup(keptAside!) });
        return;
      }
      cli.print(`Restored ${printable(name)}. The replaced state is saved as ${printable(keptAside!.name)}.`);
    });
}
