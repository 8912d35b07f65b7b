import type { Command } from "commander";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { noRoleLines } from "../access/no-role.ts";
import { scopeWords } from "../access/scopes.ts";
import { EXIT, type Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .addHelpText(
      "after",
      `
Exits with 4 if you are not logged in.

Examples:
  cairn whoami
  cairn whoami --server https://cairn.example.org --json`,
    )
    .action(async () => {
      const server = await cli.connect();
      const who = await server.access.whoAmI({});
      const { principal, token, bindings } = who;
      const name = principal?.name ?? "";
      const kind = wordOf(PrincipalKind, principal?.kind ?? 0);
      const groups = principal?.groups ?? [];
      const roles = bindings.map(({ role, scope, principal: through }) => ({
        role: wordOf(Role, role),
        scope: scopeWords(scope),
        through: through === name ? null : through,
      }));
      const isAnonymous = principal?.kind === PrincipalKind.ANONYMOUS;
      if (isAnonymous) cli.endWith(EXIT.refused);
      if (cli.options.json === true) {
        const shown = token && {
          id: token.id,
          name: token.name,
          role: token.role === Role.UNSPECIFIED ? null : wordOf(Role, token.role),
          namespaces: token.namespaces,
          expires: isoTime(token.expiresUs) ?? null,
        };
        cli.printJson({ server: server.url, name, kind, groups, token: shown ?? null, roles });
        return;
      }
      cli.print(`${printable(name)} (${kind}) on ${server.url}`);
      if (groups.length > 0) cli.print(`  in ${printable(groups.join(", "))}`);
      for (const { role, scope, through } of roles) {
        cli.print(`  ${role} of ${scope}${through === null ? "" : ` through ${printable(through)}`}`);
      }
      if (token !== undefined) {
        const most = token.role === Role.UNSPECIFIED ? "" : `, at most ${wordOf(Role, token.role)}`;
        const where =
          token.namespaces.length === 0 ? "" : `, only in ${printable(token.namespaces.join(", "))}`;
        const until = token.expiresUs === 0n ? "never expires" : `expires ${formatAgo(token.expiresUs)}`;
        cli.print(`  by token "${printable(token.name)}"${most}${where}, ${until}`);
      }
      for (const line of noRoleLines(who)) cli.print(`  ${line}`);
      if (isAnonymous) cli.note(`Log in: \`cairn login ${server.url}\`, or set CAIRN_TOKEN.`);
    });
}
