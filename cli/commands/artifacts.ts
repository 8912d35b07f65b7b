import type { Command } from "commander";
import { addGet } from "../artifacts/get-command.ts";
import { addList } from "../artifacts/list-command.ts";
import { addPut } from "../artifacts/put-command.ts";
import { addPurge, addRestore } from "../artifacts/version-commands.ts";
import type { Cli } from "../cli.ts";

export default function add(command: Command, cli: Cli): void {
  command.helpCommand(false).addHelpText(
    "after",
    `
Examples:
  cairn artifacts ls first-try
  cairn artifacts get first-try checkpoints/ -o /tmp/first-try
  cairn artifacts put first-try model.pt --kind model --step 400
  cairn artifacts ls first-try --replaced
  cairn artifacts restore first-try model.pt 12`,
  );
  addList(command.command("ls"), cli);
  addGet(command.command("get"), cli);
  addPut(command.command("put"), cli);
  addRestore(command.command("restore"), cli);
  addPurge(command.command("purge"), cli);
}
