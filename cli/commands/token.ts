import type { Command } from "commander";
import { Role, TokenKind, type Token } from "#proto/cairn/v1/access_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { shortId } from "#sdk/run-facts.ts";
import { requireGiven, withOwnPassword } from "../access/passwords.ts";
import { parseRole, ROLE_WORDS } from "../access/roles.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { collect, parseCount } from "../parse-count.ts";
import { readSecret } from "../prompt.ts";
import { tableWidth } from "../runs/table-width.ts";

const DAYS_MAX = 3_650;

interface CreateOptions {
  days?: number;
  role?: Role;
  in?: string[];
  for?: string;
  passwordStdin?: boolean;
}

export default function add(command: Command, cli: Cli): void {
  addCreate(command.command("create").description("make a token; its secret is printed once"), cli);
  addList(command.command("ls").description("tokens that work, and when they were last used"), cli);
  addRevoke(command.command("revoke").description("end tokens at once"), cli);
  command.addHelpText(
    "after",
    `
Examples:
  cairn token create cluster --role writer --in langtech/asr --days 30
  cairn token ls
  cairn token revoke cluster`,
  );
}

function addCreate(command: Command, cli: Cli): void {
  command
    .argument("[name]", "what it is for", "")
    .option("--days <n>", "days until it expires (default: 90)", parseCount(1, DAYS_MAX))
    .option("--role <role>", `its highest role: ${ROLE_WORDS.join(", ")}`, parseRole)
    .option("--in <namespace>", "only there and below; may be repeated", collect)
    .option("--for <principal>", "for another principal (administrators only)")
    .option("--password-stdin", "read your password from standard input")
    .addHelpText(
      "after",
      `
Only the secret goes to standard output, so that it can be saved without being shown.

After \`cairn login --user\` your password is asked for again; such a token works until you change your password, at
most 366 days. A token that is made with another token ends with it, and no later.

Examples:
  cairn token create cluster --role writer --in langtech/asr --days 30
  cairn token create ci > ~/.cairn-token && export CAIRN_TOKEN_FILE=~/.cairn-token`,
    )
    .action(async (name: string, options: CreateOptions) => {
      const server = await cli.connect();
      const request = {
        name,
        principal: options.for ?? "",
        role: options.role ?? Role.UNSPECIFIED,
        namespaces: options.in ?? [],
        days: options.days ?? 0,
        password: options.passwordStdin === true ? requireGiven(await readSecret(cli)) : "",
      };
      const { secret, token } = await withOwnPassword(cli, server.url, (password) =>
        server.access.createToken(password === "" ? request : { ...request, password }),
      );
      if (cli.options.json === true) {
        cli.printJson({ secret, ...jsonToken(token!) });
        return;
      }
      cli.print(secret);
      const until = token!.expiresUs === 0n ? "never expires" : `expires ${formatAgo(token!.expiresUs)}`;
      cli.note(`The secret is shown only once. The token is of ${printable(token!.principal)} and ${until}.`);
    });
}

function addList(command: Command, cli: Cli): void {
  command
    .option("--of <principal>", "of another principal (administrators only)")
    .addHelpText("after", "\nExamples:\n  cairn token ls\n  cairn token ls --of ada --json")
    .action(async ({ of = "" }: { of?: string }) => {
      const server = await cli.connect();
      const { tokens } = await server.access.listTokens({ principal: of });
      if (cli.options.json === true) {
        cli.printJson(tokens.map(jsonToken));
        return;
      }
      if (tokens.length === 0) {
        cli.note("There are no tokens.");
        return;
      }
      cli.print(
        table(
          [
            { title: "id" },
            { title: "name", shrink: true },
            { title: "of" },
            { title: "at most" },
            { title: "in", shrink: true },
            { title: "expires" },
            { title: "used" },
          ],
          tokens.map((token) => [
            shortId(token.id),
            printable(token.name),
            printable(token.principal),
            token.role === Role.UNSPECIFIED ? "" : wordOf(Role, token.role),
            printable(token.namespaces.join(", ") || "everywhere"),
            formatAgo(token.expiresUs),
            formatAgo(token.lastUsedUs),
          ]),
          { colour: cli.colour, columns: tableWidth(cli) },
        ),
      );
    });
}

function addRevoke(command: Command, cli: Cli): void {
  command
    .argument("<tokens...>", "id, its beginning, or a name")
    .option("--of <principal>", "of another principal (administrators only)")
    .addHelpText(
      "after",
      "\nExamples:\n  cairn token revoke cluster\n  cairn token revoke 01a1df26a731 --of ada",
    )
    .action(async (words: string[], { of = "" }: { of?: string }) => {
      const server = await cli.connect();
      const found = await findTokens(server, words, of);
      for (const { id } of found) await server.access.revokeToken({ id });
      if (cli.options.json === true) cli.printJson({ revoked: found.map(({ id }) => id) });
      else for (const { id, name } of found) cli.print(`Revoked ${shortId(id)} "${printable(name)}".`);
    });
}

/** All of them are looked up before one is revoked. */
async function findTokens(server: Cairn, words: readonly string[], principal: string): Promise<Token[]> {
  const { tokens } = await server.access.listTokens({ principal });
  return words.map((word) => {
    const exact = tokens.filter(({ id, name }) => id === word || name === word);
    const found =
      exact.length > 0 || word.length < 6 ? exact : tokens.filter(({ id }) => id.startsWith(word));
    if (found.length === 1) return found[0]!;
    const whose = principal === "" ? "" : ` of "${principal}"`;
    if (found.length === 0) {
      throw new CommandError(`cannot find token "${word}"${whose}`, {
        exitCode: EXIT.notFound,
        hint: "`cairn token ls` lists them; --of names another principal",
      });
    }
    throw new CommandError(
      `cannot choose a token for "${word}": ${found.map(({ id }) => id).join(", ")} all match`,
      { exitCode: EXIT.usage, hint: "give one of these ids" },
    );
  });
}

function jsonToken(token: Token) {
  return {
    id: token.id,
    name: token.name,
    principal: token.principal,
    kind: wordOf(TokenKind, token.kind),
    parent: token.parent || null,
    role: token.role === Role.UNSPECIFIED ? null : wordOf(Role, token.role),
    namespaces: token.namespaces,
    created: isoTime(token.createdUs),
    expires: isoTime(token.expiresUs) ?? null,
    lastUsed: isoTime(token.lastUsedUs) ?? null,
  };
}
