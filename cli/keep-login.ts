import { LoginFileError, loginPath, readLogins, writeLogins, type Logins } from "#sdk/login.ts";
import { CommandError, EXIT, type Cli } from "./cli.ts";

/** What the server calls a token that it gave for a password. */
export const PASSWORD_TOKEN = "log-in";

/** The saved logins; empty if the file is missing or invalid. */
export async function readLoginsToChange(cli: Cli): Promise<Logins> {
  try {
    return (await readLogins(loginPath(cli.env))) ?? { servers: {} };
  } catch (thrown) {
    if (!(thrown instanceof LoginFileError)) throw thrown;
    cli.note(`cairn: ${thrown.message}`);
    return { servers: {} };
  }
}

/** Saves a server as the default one; without a token where it needs none. */
export async function keepLogin(cli: Cli, url: string, token: string | undefined): Promise<void> {
  const { [url]: _before, ...others } = (await readLoginsToChange(cli)).servers;
  const servers = token === undefined ? others : { ...others, [url]: { token } };
  await write(cli, { default: url, servers });
}

/** Returns the token that was kept, if one was. */
export async function forgetLogin(cli: Cli, url: string): Promise<string | undefined> {
  const logins = await readLoginsToChange(cli);
  const { [url]: gone, ...servers } = logins.servers;
  if (gone === undefined && logins.default !== url) {
    throw new CommandError(`cannot remove server "${url}": it is not saved`, {
      exitCode: EXIT.notFound,
      hint: "`cairn login --list` lists the saved servers",
    });
  }
  const keepsDefault = logins.default !== undefined && logins.default !== url;
  await write(cli, { ...(keepsDefault && { default: logins.default }), servers });
  return gone?.token;
}

async function write(cli: Cli, logins: Logins): Promise<void> {
  const path = loginPath(cli.env);
  try {
    await writeLogins(logins, path);
  } catch (thrown) {
    throw new CommandError(`cannot write "${path}": ${(thrown as Error).message}`, {
      hint: "set CAIRN_SERVER and CAIRN_TOKEN instead, or XDG_CONFIG_HOME to a folder that can be written",
    });
  }
}
