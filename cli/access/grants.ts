import type { Command } from "commander";
import { Role, type Binding } from "#proto/cairn/v1/access_pb.ts";
import type { Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { parseRole, ROLE_WORDS } from "./roles.ts";
import { findScope, SCOPE_HELP, scopeWords } from "./scopes.ts";

interface ScopeOptions {
  artifact?: string;
}

export function addGrants(command: Command, cli: Cli): void {
  withArtifact(command.command("grant").description("give a role on a scope and everything below it"))
    .argument("<role>", ROLE_WORDS.join(", "), parseRole)
    .argument("<principal>", "a user, service or group, or everyone")
    .argument("<scope>", SCOPE_HELP)
    .addHelpText(
      "after",
      "\nExamples:\n  cairn access grant writer asr langtech/asr\n  cairn access grant viewer everyone /",
    )
    .action(async (role: Role, principal: string, text: string, { artifact }: ScopeOptions) => {
      const server = await cli.connect();
      const scope = await findScope(server, text, artifact);
      const binding = await server.access.bindRole({ principal, role, scope });
      if (cli.options.json === true) cli.printJson(jsonBinding(binding));
      else {
        const where = scopeWords(binding.scope);
        cli.print(`${printable(principal)} is now ${wordOf(Role, binding.role)} of ${where}.`);
      }
    });
  withArtifact(
    command.command("revoke").description("take away the role that is bound on exactly this scope"),
  )
    .argument("<principal>")
    .argument("<scope>", SCOPE_HELP)
    .addHelpText("after", "\nExamples:\n  cairn access revoke asr langtech/asr")
    .action(async (principal: string, text: string, { artifact }: ScopeOptions) => {
      const server = await cli.connect();
      await server.access.unbindRole({ principal, scope: await findScope(server, text, artifact) });
      if (cli.options.json === true) cli.printJson({ principal, scope: text, revoked: true });
      else cli.print(`${printable(principal)} has no role bound on ${printable(text)} any more.`);
    });
  for (const word of ["close", "open"] as const) {
    withArtifact(
      command
        .command(word)
        .description(
          word === "close"
            ? "only roles bound on it or below count from now on"
            : "roles bound above it count again",
        ),
    )
      .argument("<scope>", SCOPE_HELP)
      .addHelpText("after", `\nExamples:\n  cairn access ${word} langtech/asr/medical`)
      .action(async (text: string, { artifact }: ScopeOptions) => {
        const server = await cli.connect();
        const closed = word === "close";
        await server.access.setClosed({ scope: await findScope(server, text, artifact), closed });
        if (cli.options.json === true) cli.printJson({ scope: text, closed });
        else cli.print(`${printable(text)} is ${closed ? "closed" : "open"}.`);
      });
  }
  addShow(command, cli);
  addExplain(command, cli);
}

function addShow(command: Command, cli: Cli): void {
  withArtifact(
    command.command("show").description("which roles are bound on a scope, and whether it is closed"),
  )
    .argument("<scope>", SCOPE_HELP)
    .addHelpText("after", "\nExamples:\n  cairn access show langtech/asr")
    .action(async (text: string, { artifact }: ScopeOptions) => {
      const server = await cli.connect();
      const found = await server.access.getScope({ scope: await findScope(server, text, artifact) });
      if (cli.options.json === true) {
        cli.printJson({ scope: text, closed: found.closed, bindings: found.bindings.map(jsonBinding) });
        return;
      }
      cli.print(`${scopeWords(found.scope)} is ${found.closed ? "closed" : "open"}.`);
      for (const { principal, role, createdBy, createdUs } of found.bindings) {
        const by = `by ${printable(createdBy)} ${formatAgo(createdUs)}`;
        cli.print(`  ${printable(principal)} is ${wordOf(Role, role)} (${by})`);
      }
      if (found.bindings.length === 0) cli.print("  no role is bound on this scope");
    });
}

function addExplain(command: Command, cli: Cli): void {
  withArtifact(
    command.command("explain").description("which permissions a principal has on a scope, and why"),
  )
    .argument("<principal>", "a user, service or group; `-` for yourself")
    .argument("<scope>", SCOPE_HELP)
    .addHelpText(
      "after",
      "\nExamples:\n  cairn access explain ada langtech/asr/medical\n  cairn access explain - /",
    )
    .action(async (who: string, text: string, { artifact }: ScopeOptions) => {
      const server = await cli.connect();
      const scope = await findScope(server, text, artifact);
      const answer = await server.access.explainAccess({ principal: who === "-" ? "" : who, scope });
      if (cli.options.json === true) {
        cli.printJson({
          role: answer.role === Role.UNSPECIFIED ? null : wordOf(Role, answer.role),
          summary: answer.summary,
          reasons: answer.reasons.map((reason) => ({
            ...(reason.binding && jsonBinding(reason.binding)),
            through: reason.through || null,
            counts: reason.counts,
            cutBy: reason.cutBy ? scopeWords(reason.cutBy) : null,
          })),
        });
        return;
      }
      cli.print(printable(answer.summary));
      for (const { binding, through, counts, cutBy } of answer.reasons) {
        const role = wordOf(Role, binding?.role ?? 0);
        const via = through === "" ? "" : ` through ${printable(through)}`;
        const why = counts ? "counts" : `is cut off by ${scopeWords(cutBy)}, which is closed`;
        cli.print(`  ${counts ? "+" : "-"} ${role} of ${scopeWords(binding?.scope)}${via} ${why}`);
      }
    });
}

function withArtifact(command: Command): Command {
  return command.option("--artifact <name>", "with run:RUN: only this artifact of it");
}

function jsonBinding(binding: Binding) {
  return {
    principal: binding.principal,
    role: wordOf(Role, binding.role),
    scope: scopeWords(binding.scope),
    created: isoTime(binding.createdUs),
    createdBy: binding.createdBy,
  };
}
