import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import { parseCount } from "../parse-count.ts";
import { jsonArtifact } from "./list-command.ts";

export function addRestore(command: Command, cli: Cli): void {
  command
    .description("make a version that was replaced or deleted the artifact again")
    .argument("<run>", "id, name, alias or path of a run")
    .argument("<artifact>", "its name")
    .argument("<version>", "as `artifacts ls --replaced` shows it", parseCount(1))
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
Examples:
  cairn artifacts ls first-try --replaced
  cairn artifacts restore first-try checkpoints/last.pt 12`,
    )
    .action(async (text: string, name: string, version: number, options: { namespace?: string }) => {
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const asked = { run: { id: run.id }, name, version: BigInt(version) };
      const artifact = await server.artifacts.restoreArtifact(asked);
      if (cli.options.json === true) cli.printJson(jsonArtifact(artifact));
      else
        cli.print(
          `Restored version ${version} of ${printable(artifact.name)}, by ${printable(artifact.createdBy)}.`,
        );
    });
}

export function addPurge(command: Command, cli: Cli): void {
  command
    .description(
      "destroy versions that were replaced or deleted before their time; needs the role maintainer",
    )
    .argument("<run>", "id, name, alias or path of a run")
    .argument("[artifact]", "only versions of this name")
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
Examples:
  cairn artifacts purge first-try
  cairn artifacts purge first-try checkpoints/last.pt`,
    )
    .action(async (text: string, name: string | undefined, options: { namespace?: string }) => {
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const asked = { run: { id: run.id }, name: name ?? "" };
      const { purgedCount } = await server.artifacts.purgeArtifacts(asked);
      if (cli.options.json === true) cli.printJson({ runId: run.id, purgedCount });
      else cli.print(`Destroyed ${countOf(purgedCount, "version")}.`);
    });
}
