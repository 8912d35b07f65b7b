import type { Command } from "commander";
import type { Backup } from "#proto/cairn/v1/system_pb.ts";
import { CommandError, EXIT, type Cli } from "../../cli.ts";
import { LONG_CALL } from "../../long-call.ts";
import { formatBytes } from "#lang/words/numbers.ts";
import { table } from "../../output/table.ts";
import { printable } from "../../output/text.ts";
import { formatAgo, formatTime, isoTime } from "#lang/words/times.ts";
import { tableWidth } from "../../runs/table-width.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[name]", "letters, digits, `.`, `_` and `-`; without it the time")
    .option("--list", "list existing backups")
    .addHelpText(
      "after",
      `
The copy is in the folder backups/ of the server's data, on the same disk: copy it elsewhere, too.

Examples:
  cairn backup before-upgrade
  cairn backup --list`,
    )
    .action(async (name: string | undefined, options: { list?: boolean }) => {
      if (options.list === true) {
        if (name === undefined) return listBackups(cli);
        throw new CommandError(`cannot list backup "${name}": --list takes no name`, {
          exitCode: EXIT.usage,
        });
      }
      const server = await cli.connect();
      const made = await server.system.createBackup({ name: name ?? "" }, LONG_CALL);
      if (cli.options.json === true) cli.printJson(jsonBackup(made));
      else cli.print(`Wrote backup ${printable(made.name)} (${formatBytes(made.sizeBytes)}).`);
    });
}

async function listBackups(cli: Cli): Promise<void> {
  const { backups } = await (await cli.connect()).system.listBackups({});
  if (cli.options.json === true) {
    cli.printJson(backups.map(jsonBackup));
    return;
  }
  if (backups.length === 0) {
    cli.note("There are no backups. `cairn backup` makes one.");
    return;
  }
  cli.print(
    table(
      [{ title: "name" }, { title: "size", align: "right" }, { title: "made" }, { title: "" }],
      backups.map(({ name, sizeBytes, createdUs }) => [
        printable(name),
        formatBytes(sizeBytes),
        formatTime(createdUs),
        formatAgo(createdUs),
      ]),
      { colour: cli.colour, columns: tableWidth(cli) },
    ),
  );
}

export function jsonBackup({ name, createdUs, sizeBytes }: Backup) {
  return { name, created: isoTime(createdUs), sizeBytes };
}
