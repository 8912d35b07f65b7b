import { CommanderError } from "commander";
import type { Failure } from "#sdk/failure.ts";
import { CommandError, EXIT, type ExitCode } from "./cli.ts";
import { printable } from "./output/text.ts";
import type { Output } from "./surroundings.ts";

/** Whatever a command threw, in words and with the exit code. undefined when there is nothing to say. */
export async function explain(
  thrown: unknown,
  serverUrl: string,
  env: NodeJS.ProcessEnv = {},
): Promise<CommandError | undefined> {
  if (thrown instanceof CommandError) return thrown;
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? undefined : fromCommander(thrown);
  const [{ ConnectError }, { Failure }] = await Promise.all([
    import("@connectrpc/connect"),
    import("#sdk/failure.ts"),
  ]);
  if (thrown instanceof ConnectError || thrown instanceof Failure) return fromServer(thrown, serverUrl, env);
  if (!(thrown instanceof Error)) return new CommandError(String(thrown));
  if (Failure.from(thrown).reason === "UNREACHABLE" && thrown.name === "TypeError") {
    return fromServer(thrown, serverUrl, env);
  }
  const { code } = thrown as NodeJS.ErrnoException;
  return new CommandError(thrown.message, { exitCode: code === "ENOENT" ? EXIT.notFound : EXIT.failed });
}

/** On standard error: two lines for a person, one JSON document with --json. */
export function writeError(stderr: Output, failure: CommandError, json: boolean): void {
  const { message, hint, exitCode } = failure;
  if (json) {
    stderr.write(`${JSON.stringify({ error: { message, ...(hint && { hint }), exitCode } })}\n`);
    return;
  }
  stderr.write(`cairn: ${eachLine(message)}\n${hint ? `  ${eachLine(hint)}\n` : ""}`);
}

/** A server's message may quote input of other users. */
function eachLine(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Its message is "error: unknown option '--jsno'\n(Did you mean --json?)". */
function fromCommander({ message }: CommanderError): CommandError {
  const [first, suggestion] = message
    .replace(/^error: /, "")
    .replaceAll(/'([^']*)'/g, '"$1"')
    .split("\n(");
  const hint = suggestion?.replace(/\)$/, "").replace(/^Did/, "did");
  return new CommandError(first!, {
    exitCode: EXIT.usage,
    hint: hint ?? "`--help` after the command lists its arguments and options",
  });
}

type Said = Pick<Failure, "code" | "message" | "hint" | "reason">;

/** The server's own hint is for any client; here it is known which command helps. */
function hintFor({ code, message, hint, reason }: Said, serverUrl: string, env: NodeJS.ProcessEnv): string {
  if (code === UNAUTHENTICATED) return loginHint(serverUrl, env, hint);
  if (reason === "NO_RIGHT") {
    return "ask a maintainer of the namespace or an administrator for a role; `cairn whoami` shows the roles that you have";
  }
  if (UNTRUSTED.test(message)) {
    return "CAIRN_CA_FILE names a PEM file with the authority that signed the certificate of the server";
  }
  return hint;
}

/** Code.Unauthenticated of Connect, which is loaded only for errors of servers. */
const UNAUTHENTICATED = 16;
/** The server is there, so that starting one would not help. */
const UNTRUSTED =
  /: (?:self-signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate)/;

/** Says also where the token came from. */
function loginHint(serverUrl: string, env: NodeJS.ProcessEnv, hint: string): string {
  // `cairn login` itself, with a token; a wrong password needs no words.
  if (serverUrl === "") return hint && "`cairn token create` and the page Access make a new token";
  const login = `cairn login ${serverUrl}`;
  const source = ["CAIRN_TOKEN", "CAIRN_TOKEN_FILE"].find((name) => env[name]);
  if (source === undefined) return `log in with \`${login}\`, or set CAIRN_TOKEN`;
  return `the token is that of ${source}: replace it, or unset ${source} and use \`${login}\``;
}

async function fromServer(thrown: unknown, serverUrl: string, env: NodeJS.ProcessEnv): Promise<CommandError> {
  const [{ Code }, { Failure }] = await Promise.all([
    import("@connectrpc/connect"),
    import("#sdk/failure.ts"),
  ]);
  const { code, message, hint, reason } = Failure.from(thrown, serverUrl);
  const exits: Partial<Record<number, ExitCode>> = {
    [Code.NotFound]: EXIT.notFound,
    [Code.Unauthenticated]: EXIT.refused,
    [Code.PermissionDenied]: EXIT.refused,
    [Code.Unavailable]: EXIT.unreachable,
    [Code.DeadlineExceeded]: EXIT.unreachable,
  };
  const more = hintFor({ code, message, hint, reason }, serverUrl, env);
  return new CommandError(message, {
    exitCode: exits[code] ?? EXIT.failed,
    ...(more !== "" && { hint: more }),
  });
}
