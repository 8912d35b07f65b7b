import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { wordOf } from "#lang/words/enums.ts";
import {
  PrincipalKind,
  Role,
  type Binding,
  type Principal,
  type ScopeSchema,
} from "#proto/cairn/v1/access_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { jsonPrincipal } from "./json-principal.ts";
import { newPassword, withOwnPassword } from "./passwords.ts";
import { parseRole, ROLE_WORDS } from "./roles.ts";
import { findScope, SCOPE_HELP, scopeWords } from "./scopes.ts";

interface Options {
  display?: string;
  service?: boolean;
  password?: boolean;
  passwordStdin?: boolean;
  role?: Role;
  in?: string;
}

/** `cairn access user add`. */
export function addUser(command: Command, cli: Cli): void {
  command
    .command("add")
    .description("add a user, or with --service a job or script")
    .argument("<name>")
    .option("--display <text>", "the display name")
    .option("--service", "a service account: it has tokens, never a password")
    .option("--password", "ask for a password; without one it logs in by token alone")
    .option("--password-stdin", "read the password from standard input")
    .option("--role <role>", `its role: ${ROLE_WORDS.join(", ")}`, parseRole)
    .option("--in <scope>", `where it has that role: ${SCOPE_HELP}`)
    .addHelpText(
      "after",
      `
Without a role, of its own or of a group, a user can neither read nor write anything.

Examples:
  cairn access user add ada --display "Ada Lovelace" --password --role writer --in langtech/asr
  cairn access user add bob --password --role viewer --in /
  cairn access user add ci-nightly --service --role writer --in langtech`,
    )
    .action((name: string, options: Options) => add(cli, name, options));
}

async function add(cli: Cli, name: string, options: Options): Promise<void> {
  const grant = roleToGive(options);
  const server = await cli.connect();
  const scope = grant && (await findScope(server, grant.place, undefined));
  const password = await newPassword(cli, name, options);
  const kind = options.service === true ? PrincipalKind.SERVICE : PrincipalKind.USER;
  const request = { name, kind, displayName: options.display ?? "", password: password ?? "" };
  const made = await withOwnPassword(cli, server.url, (yourPassword) =>
    server.access.createPrincipal({ ...request, yourPassword }),
  );
  const given = grant && (await giveRole(server, name, grant.role, scope!));
  if (cli.options.json === true) {
    const role = given && { role: wordOf(Role, given.role), scope: scopeWords(given.scope) };
    cli.printJson({ ...jsonPrincipal(made), role: role ?? null });
    return;
  }
  cli.print(`Added ${wordOf(PrincipalKind, kind)} ${printable(name)}.`);
  for (const line of nextSteps(made, given)) cli.print(line);
}

/** Throws CommandError for half of it. */
function roleToGive({ role, in: place }: Options): { role: Role; place: string } | undefined {
  if (role === undefined && place === undefined) return undefined;
  if (role !== undefined && place !== undefined) return { role, place };
  throw new CommandError(
    role === undefined ? "cannot use --in without --role" : "cannot give a role without a place",
    { exitCode: EXIT.usage, hint: "such as `--role writer --in langtech/asr`, or `--in /` for everything" },
  );
}

async function giveRole(
  server: Cairn,
  principal: string,
  role: Role,
  scope: MessageInitShape<typeof ScopeSchema>,
): Promise<Binding> {
  try {
    return await server.access.bindRole({ principal, role, scope });
  } catch (thrown) {
    const { message } = Failure.from(thrown, server.url);
    throw new CommandError(`${printable(principal)} was added, but without a role: ${message}`, {
      hint: "`cairn access grant` gives one",
    });
  }
}

/** What a new user has, and what it still needs before it can do anything. */
function nextSteps({ name, hasPassword }: Principal, given: Binding | undefined): string[] {
  const who = printable(name);
  const steps = [
    given === undefined
      ? `It has no role of its own yet, so it may see nothing: \`cairn access grant writer ${who} NAMESPACE\` gives one.`
      : `It is ${wordOf(Role, given.role)} of ${scopeWords(given.scope)}.`,
  ];
  if (!hasPassword) steps.push(`To log in it needs a token: \`cairn token create --for ${who}\`.`);
  return steps;
}
