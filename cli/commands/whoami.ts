import type { Command } from "commander";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import type { Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { wordOf } from "../output/words.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .addHelpText(
      "after",
      `
Examples:
  cairn whoami
  cairn whoami --server https://cairn.example.org --json`,
    )
    .action(async () => {
      const server = await cli.connect();
      const { principal, token, bindings } = await server.access.whoAmI({});
      const name = principal?.name ?? "";
      const kind = wordOf(PrincipalKind, principal?.kind ?? 0);
      const roles = bindings.map(({ role, scope }) => ({
        role: wordOf(Role, role),
        namespace: scope?.namespace ?? "",
        run: scope?.runId ?? "",
        artifact: scope?.artifact ?? "",
      }));
      if (cli.options.json === true) {
        cli.printJson({ server: server.url, name, kind, groups: principal?.groups ?? [], token, roles });
        return;
      }
      cli.print(`${printable(name)} (${kind}) on ${server.url}`);
      for (const { role, namespace, run } of roles) {
        cli.print(`  ${role} of ${printable(run || namespace || "everything")}`);
      }
    });
}
