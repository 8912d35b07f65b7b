import { Failure } from "#sdk/failure.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { askSecret, readSecret } from "../prompt.ts";

/** Typed twice, not shown. */
export async function askNewPassword(cli: Cli, name: string): Promise<string> {
  requireTerminal(cli);
  const first = requireGiven(await askSecret(cli, `New password of ${printable(name)} (not shown): `));
  if ((await askSecret(cli, "Once more: ")) === first) return first;
  throw new CommandError("nothing was changed: the two passwords differ");
}

/** undefined when none is wanted. */
export async function newPassword(
  cli: Cli,
  name: string,
  options: { password?: boolean; passwordStdin?: boolean },
): Promise<string | undefined> {
  if (options.passwordStdin === true) return requireGiven(await readSecret(cli));
  return options.password === true ? askNewPassword(cli, name) : undefined;
}

export async function askOwnPassword(cli: Cli, url: string): Promise<string> {
  requireTerminal(cli);
  return requireGiven(await askSecret(cli, `Your password on ${url} (not shown): `));
}

/** Makes the call, and once more with the caller's own password where the server wants it. */
export async function withOwnPassword<T>(
  cli: Cli,
  url: string,
  call: (ownPassword: string) => Promise<T>,
): Promise<T> {
  try {
    return await call("");
  } catch (thrown) {
    if (Failure.from(thrown).reason !== "PASSWORD_NEEDED" || !cli.interactive) throw thrown;
    return call(await askOwnPassword(cli, url));
  }
}

export function requireGiven(password: string): string {
  if (password !== "") return password;
  throw new CommandError("nothing was changed: no password was given", { exitCode: EXIT.usage });
}

function requireTerminal(cli: Cli): void {
  if (cli.interactive) return;
  throw new CommandError("cannot ask for a password: there is no terminal", {
    exitCode: EXIT.usage,
    hint: "pipe it in with --password-stdin",
  });
}
