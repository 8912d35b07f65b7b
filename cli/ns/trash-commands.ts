import type { Command } from "commander";
import { countOf } from "#lang/words/numbers.ts";
import type { Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { confirm } from "../prompt.ts";

/** `cairn ns rm`, `cairn ns restore` and `cairn ns purge`. */
export function addTrash(command: Command, cli: Cli): void {
  command
    .command("rm")
    .description("move a namespace to the trash, with all that is in it and below it")
    .argument("<path>")
    .addHelpText(
      "after",
      `
Its runs are found in the trash only, nothing can be written into it, and its path stays taken. \`cairn ns restore\` brings it back
as it was; \`cairn ns purge\` destroys it.

Examples:
  cairn ns rm langtech/old`,
    )
    .action(async (path: string) => {
      await (await cli.connect()).namespaces.deleteNamespace({ path });
      if (cli.options.json === true) cli.printJson({ path, removed: true });
      else cli.print(`Moved ${printable(path)} to the trash.`);
    });
  command
    .command("restore")
    .description("take a namespace out of the trash")
    .argument("<path>")
    .addHelpText("after", "\nExamples:\n  cairn ns --trashed\n  cairn ns restore langtech/old")
    .action(async (path: string) => {
      await (await cli.connect()).namespaces.restoreNamespace({ path });
      if (cli.options.json === true) cli.printJson({ path, restored: true });
      else cli.print(`Restored ${printable(path)}.`);
    });
  command
    .command("purge")
    .description("destroy a namespace that is in the trash; this cannot be undone")
    .argument("<path>")
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExamples:\n  cairn ns purge langtech/old\n  cairn ns purge langtech/old --yes")
    .action((path: string, { yes = false }: { yes?: boolean }) => purge(cli, path, yes));
}

async function purge(cli: Cli, path: string, yes: boolean): Promise<void> {
  const server = await cli.connect();
  if (!yes) {
    // A missing one is reported before the question.
    await server.namespaces.getNamespace({ path });
    const { totalCount } = await server.runs.searchRuns({ namespace: path, trashed: true, pageSize: 1 });
    const what = `everything in it, also ${countOf(totalCount, "run")}`;
    await confirm(cli, `Permanently destroy ${printable(path)} with ${what}?`, yes);
  }
  const total = { runs: 0n, hosts: 0n, namespaces: 0n, points: 0n };
  const progress = cli.progress("purging");
  try {
    for (let done = false; !done;) {
      const part = await server.namespaces.purgeNamespace({ path });
      total.runs += part.purgedRuns;
      total.hosts += part.purgedHosts;
      total.namespaces += part.purgedNamespaces;
      total.points += part.purgedPoints;
      progress.update(Number(total.runs));
      done = part.done;
    }
  } finally {
    progress.end();
  }
  if (cli.options.json === true) cli.printJson({ path, ...total });
  else cli.print(`Destroyed ${printable(path)} with ${countOf(total.runs, "run")}.`);
}
