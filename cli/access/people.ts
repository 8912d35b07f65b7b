import type { Command } from "commander";
import { PrincipalKind, type Principal } from "#proto/cairn/v1/access_pb.ts";
import { listPrincipals } from "#sdk/pages.ts";
import type { Cli } from "../cli.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { formatAgo } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { confirm } from "../prompt.ts";
import { tableWidth } from "../runs/table-width.ts";
import { addUser } from "./add-user.ts";
import { jsonPrincipal } from "./json-principal.ts";
import { newPassword, withOwnPassword } from "./passwords.ts";

export function addUsers(command: Command, cli: Cli): void {
  addUser(command, cli);
  command
    .command("rm")
    .description("remove a user with its tokens, roles and memberships")
    .argument("<name>")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples:\n  cairn access user rm ada")
    .action((name: string, { yes }: { yes?: boolean }) => removePrincipal(cli, name, yes === true));
  command
    .command("ls")
    .description("list users and services")
    .addHelpText("after", "\nExamples:\n  cairn access user ls --json")
    .action(() => list(cli, (kind) => kind !== PrincipalKind.GROUP));
  for (const [word, disabled] of [
    ["disable", true],
    ["enable", false],
  ] as const) {
    command
      .command(word)
      .description(
        disabled ? "disable its tokens and logins until it is enabled" : "enable a disabled user or service",
      )
      .argument("<name>")
      .addHelpText("after", `\nExamples:\n  cairn access user ${word} ada`)
      .action(async (name: string) => {
        const changed = await (await cli.connect()).access.updatePrincipal({ name, disabled });
        report(cli, changed, `${disabled ? "Disabled" : "Enabled"} ${printable(name)}.`);
      });
  }
  command
    .command("password")
    .description("set the password of a user")
    .argument("<name>")
    .option("--password-stdin", "read the password from standard input")
    .option("--none", "remove the password")
    .addHelpText("after", "\nExamples:\n  cairn access user password ada")
    .action(async (name: string, options: { passwordStdin?: boolean; none?: boolean }) => {
      const server = await cli.connect();
      const password =
        options.none === true ? "" : await newPassword(cli, name, { password: true, ...options });
      const changed = await withOwnPassword(cli, server.url, (yourPassword) =>
        server.access.updatePrincipal({ name, password: password!, yourPassword }),
      );
      report(cli, changed, `${printable(name)} has ${password === "" ? "no" : "a new"} password.`);
    });
}

export function addGroups(command: Command, cli: Cli): void {
  command
    .command("add")
    .description("add a group; roles bound to it apply to its members")
    .argument("<name>")
    .option("--display <text>", "the display name")
    .addHelpText("after", "\nExamples:\n  cairn access group add asr")
    .action(async (name: string, { display = "" }: { display?: string }) => {
      const server = await cli.connect();
      const kind = PrincipalKind.GROUP;
      const made = await server.access.createPrincipal({ name, kind, displayName: display });
      report(cli, made, `Added group ${printable(name)}.`);
    });
  command
    .command("rm")
    .description("remove a group with its roles; its members stay")
    .argument("<name>")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples:\n  cairn access group rm asr")
    .action((name: string, { yes }: { yes?: boolean }) => removePrincipal(cli, name, yes === true));
  command
    .command("ls")
    .description("list groups and their members")
    .addHelpText("after", "\nExamples:\n  cairn access group ls")
    .action(() => list(cli, (kind) => kind === PrincipalKind.GROUP));
  for (const word of ["join", "leave"] as const) {
    command
      .command(word)
      .description(word === "join" ? "add members" : "remove members")
      .argument("<group>")
      .argument("<member...>")
      .addHelpText("after", `\nExamples:\n  cairn access group ${word} asr ada`)
      .action(async (group: string, members: string[]) => {
        const { access } = await cli.connect();
        for (const member of members) {
          if (word === "join") await access.addMember({ group, member });
          else await access.removeMember({ group, member });
        }
        if (cli.options.json === true) cli.printJson({ group, members, [word]: true });
        else {
          const verb = word === "join" ? "Now in" : "No longer in";
          cli.print(`${verb} ${printable(group)}: ${members.map(printable).join(", ")}.`);
        }
      });
  }
}

async function removePrincipal(cli: Cli, name: string, yes: boolean): Promise<void> {
  const server = await cli.connect();
  await confirm(cli, `Remove ${printable(name)} with all its tokens, roles and memberships?`, yes);
  await server.access.deletePrincipal({ name });
  if (cli.options.json === true) cli.printJson({ name, removed: true });
  else cli.print(`Removed ${printable(name)}.`);
}

async function list(cli: Cli, wanted: (kind: PrincipalKind) => boolean): Promise<void> {
  const all = await listPrincipals(await cli.connect());
  const found = all.filter(({ kind }) => wanted(kind));
  if (cli.options.json === true) {
    cli.printJson(found.map(jsonPrincipal));
    return;
  }
  if (found.length === 0) {
    cli.note("There are none.");
    return;
  }
  cli.print(
    table(
      [
        { title: "name" },
        { title: "kind" },
        { title: "called", shrink: true },
        { title: "members, groups", shrink: true },
        { title: "since" },
        { title: "" },
      ],
      found.map((one) => [
        printable(one.name),
        wordOf(PrincipalKind, one.kind),
        printable(one.displayName),
        printable([...one.members, ...one.groups].join(", ")),
        one.createdUs === 0n ? "" : formatAgo(one.createdUs),
        [one.disabled && "disabled", one.hasPassword && "has a password"].filter(Boolean).join(", "),
      ]),
      { colour: cli.colour, columns: tableWidth(cli) },
    ),
  );
}

function report(cli: Cli, principal: Principal, words: string): void {
  if (cli.options.json === true) cli.printJson(jsonPrincipal(principal));
  else cli.print(words);
}
