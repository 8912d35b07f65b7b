import type { Command } from "commander";
import { addAudit } from "../access/audit.ts";
import { addGrants } from "../access/grants.ts";
import { addGroups, addUsers } from "../access/people.ts";
import type { Cli } from "../cli.ts";

export default function add(command: Command, cli: Cli): void {
  addUsers(command.command("user").description("people, jobs and scripts"), cli);
  addGroups(command.command("group").description("groups of them"), cli);
  addGrants(command, cli);
  addAudit(command, cli);
  command.addHelpText(
    "after",
    `
Roles, each including those before it: viewer, writer, maintainer, admin. docs/access.md says what they may do.

Examples:
  cairn access user add ada --password
  cairn access group add asr && cairn access group join asr ada
  cairn access grant writer asr langtech/asr
  cairn access close langtech/asr/medical
  cairn access explain ada langtech/asr/medical`,
  );
}
