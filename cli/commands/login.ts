import { dirname } from "node:path";
import type { Command } from "commander";
import { PrincipalKind, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { trustCaFile } from "#sdk/ca-file.ts";
import { Cairn, type ServerAddress } from "#sdk/client.ts";
import { findLocalServer } from "#sdk/local-secret.ts";
import { DEFAULT_SERVER, loginPath, normalizeServer } from "#sdk/login.ts";
import { noRoleLines } from "../access/no-role.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { explain } from "../explain.ts";
import { isHere } from "../is-here.ts";
import { forgetLogin, keepLogin, PASSWORD_TOKEN, readLoginsToChange } from "../keep-login.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { ask, askSecret, readSecret } from "../prompt.ts";

const LOG_OUT_MS_MAX = 3_000;

interface LoginOptions {
  tokenStdin?: boolean;
  user?: string;
  passwordStdin?: boolean;
  list?: boolean;
  forget?: boolean;
  token?: string | true;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[url]", "the server; without it --server, CAIRN_SERVER, the last one, or this machine")
    .option("--token-stdin", "read the token from standard input")
    .option("--user <name>", "log in with a password; the server gives a token for 12 hours")
    .option("--password-stdin", "with --user: read the password from standard input")
    .option("--list", "list saved servers")
    .option("--forget", "remove the saved server, and end its token if it was made with a password")
    .addOption(command.createOption("--token [token]").hideHelp())
    .addHelpText(
      "after",
      `
The token is checked and then saved in ${loginPath(cli.env)}, readable only by you. The last server you logged in
to is the one that other commands talk to.

Examples:
  cairn login https://cairn.example.org              asks for a token, without showing it
  cairn login https://cairn.example.org --user ada   asks for a password
  cairn login --token-stdin < token.txt
  cairn login --list
  cairn login --forget https://cairn.example.org`,
    )
    .action(async (url: string | undefined, options: LoginOptions) => {
      if (options.token !== undefined) throw tokenRefusal();
      if (options.list === true) return listLogins(cli);
      const logins = await readLoginsToChange(cli);
      const named = url ?? cli.options.server ?? (cli.env["CAIRN_SERVER"] || logins.default);
      const address = normalizeServer(named ?? DEFAULT_SERVER);
      await trustCaFile(address, cli.env);
      return options.forget === true ? forget(cli, address) : logIn(cli, address, options);
    });
}

function tokenRefusal(): CommandError {
  return new CommandError(
    "cannot take a token as an argument: it would stay in the shell's history and show in the list of processes",
    {
      exitCode: EXIT.usage,
      hint: "let `cairn login` ask for it, or pipe it: `cairn login --token-stdin < FILE`. If it was a real one, revoke it",
    },
  );
}

async function logIn(cli: Cli, url: string, options: LoginOptions): Promise<void> {
  warnOfPlainText(cli, url);
  const token = await obtainToken(cli, url, options);
  const who = await new Cairn(await withLocalSecret(cli, { url, token })).access.whoAmI({});
  if (token !== undefined && who.token === undefined) {
    throw new CommandError(`cannot use the token: ${url} rejects it as unknown`, { exitCode: EXIT.refused });
  }
  await keepLogin(cli, url, token);
  const name = who.principal?.name ?? "";
  const kind = wordOf(PrincipalKind, who.principal?.kind ?? 0);
  if (cli.options.json === true) {
    cli.printJson({ server: url, name, kind, ...tokenJson(who) });
    return;
  }
  cli.print(`Logged in to ${url} as ${printable(name)} (${kind}).`);
  if (who.token === undefined) cli.print("It needs no token from this machine.");
  else if (who.token.expiresUs !== 0n) {
    cli.print(`The token "${printable(who.token.name)}" expires ${formatAgo(who.token.expiresUs)}.`);
  }
  for (const line of noRoleLines(who)) cli.print(line);
}

function tokenJson({ token }: WhoAmIResponse) {
  return token && { token: { id: token.id, name: token.name, expires: isoTime(token.expiresUs) } };
}

/** undefined where the server requires none. */
async function obtainToken(cli: Cli, url: string, options: LoginOptions): Promise<string | undefined> {
  if (options.user !== undefined) return passwordToken(cli, url, options.user, options);
  if (options.tokenStdin === true) return present(await readSecret(cli), "token");
  const { principal } = await new Cairn(await withLocalSecret(cli, { url })).access.whoAmI({});
  if (principal?.kind === PrincipalKind.OWNER) return undefined;
  if (!cli.interactive) {
    throw new CommandError("cannot ask for a token: there is no terminal", {
      exitCode: EXIT.usage,
      hint: "pipe it in with --token-stdin, or set CAIRN_SERVER and CAIRN_TOKEN instead",
    });
  }
  return present(await askSecret(cli, `Token for ${url} (not shown): `), "token");
}

/** A credential that other commands find without the login file is not saved. */
async function withLocalSecret(cli: Cli, address: ServerAddress): Promise<ServerAddress> {
  if (address.token !== undefined) return address;
  return (await findLocalServer(address.url, dirname(loginPath(cli.env)))) ?? address;
}

async function passwordToken(cli: Cli, url: string, user: string, options: LoginOptions): Promise<string> {
  if (options.passwordStdin !== true && !cli.interactive) {
    throw new CommandError("cannot ask for a password: there is no terminal", {
      exitCode: EXIT.usage,
      hint: "pipe it in with --password-stdin",
    });
  }
  const name = user || present(await ask(cli, "User: "), "user name");
  const question = `Password of ${printable(name)} on ${url} (not shown): `;
  const typed = options.passwordStdin === true ? await readSecret(cli) : await askSecret(cli, question);
  const { secret } = await new Cairn({ url }).access.logIn({ name, password: present(typed, "password") });
  return secret;
}

function present(text: string, what: string): string {
  if (text !== "") return text;
  throw new CommandError(`cannot log in: no ${what} was given`, { exitCode: EXIT.usage });
}

function warnOfPlainText(cli: Cli, url: string): void {
  if (url.startsWith("http:") && !isHere(url)) {
    cli.note(`cairn: ${url} is not encrypted: anyone on the network path can read the token`);
  }
}

async function listLogins(cli: Cli): Promise<void> {
  const logins = await readLoginsToChange(cli);
  const urls = new Set([...Object.keys(logins.servers), ...(logins.default ? [logins.default] : [])]);
  const rows = [...urls].sort().map((url) => ({
    server: url,
    token: logins.servers[url] !== undefined,
    default: url === logins.default,
  }));
  if (cli.options.json === true) {
    cli.printJson(rows);
    return;
  }
  if (rows.length === 0) {
    cli.note("No server is saved. `cairn login URL` saves one.");
    return;
  }
  cli.print(
    table(
      [{ title: "server", shrink: true }, { title: "token" }, { title: "" }],
      rows.map((row) => [row.server, row.token ? "kept" : "none", row.default ? "default" : ""]),
      { colour: cli.colour, columns: cli.columns },
    ),
  );
}

async function forget(cli: Cli, url: string): Promise<void> {
  const token = await forgetLogin(cli, url);
  const ended = token !== undefined && (await endPasswordToken(cli, { url, token }));
  if (cli.options.json === true) cli.printJson({ server: url, forgotten: true, tokenEnded: ended });
  else cli.print(`Removed ${url}.${ended ? " Its token was revoked." : ""}`);
}

/** A token that was made with a name may be in use elsewhere; one made with a password belongs to this login only. */
async function endPasswordToken(cli: Cli, login: { url: string; token: string }): Promise<boolean> {
  try {
    const { access } = new Cairn(login, { timeoutMs: LOG_OUT_MS_MAX });
    if ((await access.whoAmI({})).token?.name !== PASSWORD_TOKEN) return false;
    await access.logOut({});
    return true;
  } catch (thrown) {
    cli.note(
      `cairn: the token could not be revoked: ${(await explain(thrown, login.url, cli.env))?.message ?? ""}`,
    );
    return false;
  }
}
