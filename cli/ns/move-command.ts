import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { printable } from "../output/text.ts";

/** `cairn ns mv`. */
export function addMove(command: Command, cli: Cli): void {
  command
    .command("mv")
    .description("rename a namespace, or move it, with all that is in it and below it")
    .argument("<namespace>", "the namespace")
    .argument("<path>", "its new path; parents that are missing are created")
    .addHelpText(
      "after",
      `
Runs and namespaces keep their ids and everything they have, also roles that are bound on them, what is closed, and the limits of
tokens. What holds around the new path holds for them from now on. Programs that log to the old path make a new namespace
there.

Examples:
  cairn ns mv langtech/asr langtech/speech
  cairn ns mv langtech/asr archive/langtech/asr`,
    )
    .action(async (from: string, to: string) => {
      const server = await cli.connect();
      const moved = await server.namespaces.moveNamespace({ path: from, to });
      if (cli.options.json === true) {
        cli.printJson({ id: moved.id, from: moved.from, path: moved.path });
      } else if (moved.from === moved.path) cli.print(`${printable(moved.path)} is there already.`);
      else cli.print(`Moved ${printable(moved.from)} to ${printable(moved.path)}.`);
    });
}
