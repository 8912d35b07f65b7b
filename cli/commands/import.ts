import { resolve } from "node:path";
import type { Command } from "commander";
import { FsspecDirectory } from "#sdk/tracker/fsspec/fsspec-directory.ts";
import { LocalFileSystem } from "#sdk/tracker/fsspec/local-file-system.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { importFsspec, type ImportReport, type Skipped } from "../import/fsspec-import.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";

/** More are only counted; --json has all of them. */
const SKIPPED_SHOWN = 20;

interface FsspecOptions {
  namespace?: string;
  dryRun?: boolean;
}

export default function add(command: Command, cli: Cli): void {
  addFsspec(
    command.command("fsspec").description("runs that TorchX tracked to a directory with its FsspecTracker"),
    cli,
  );
  command.addHelpText(
    "after",
    `
Examples:
  cairn import fsspec /mnt/torchx/tracker --namespace langtech/asr
  cairn import fsspec /mnt/torchx/tracker --dry-run`,
  );
}

function addFsspec(command: Command, cli: Cli): void {
  command
    .argument("<dir>", "the root_path of the tracker's config")
    .option("--namespace <namespace>", "the namespace to import into", "default")
    .option("--dry-run", "only print what would be imported")
    .addHelpText(
      "after",
      `
Run ids become aliases, metadata params, artifacts references, sources lineage. A run begins with its first entry and
has ended with its last. What cannot be read is skipped and reported. Import again at any time: only what is
new or different is sent.

Examples:
  cairn import fsspec /mnt/torchx/tracker --namespace langtech/asr
  cairn import fsspec /mnt/torchx/tracker --dry-run --json`,
    )
    .action(async (folder: string, options: FsspecOptions) => {
      const passedOver: Skipped[] = [];
      const root = resolve(folder);
      const directory = new FsspecDirectory(new LocalFileSystem(), root, ({ path, reason }) =>
        passedOver.push({ what: path, reason }),
      );
      if (!(await directory.fs.exists(root))) {
        throw new CommandError(`cannot import "${folder}": there is no such directory`, {
          exitCode: EXIT.notFound,
        });
      }
      const progress = cli.progress("importing");
      try {
        const report = await importFsspec(directory, {
          namespace: options.namespace ?? "",
          server: options.dryRun === true ? undefined : await cli.connect(),
          interrupted: cli.interrupted,
          onProgress: (done, total, runId) => progress.update(done, { total, note: printable(runId) }),
        });
        progress.end();
        if (cli.interrupted.aborted) {
          cli.note("Stopped before the end. Import again to continue.");
          return;
        }
        report.skipped.unshift(...passedOver);
        print(cli, report, options.dryRun === true);
      } finally {
        progress.end();
      }
    });
}

function print(cli: Cli, report: ImportReport, isDry: boolean): void {
  if (report.failed > 0) cli.endWith(EXIT.failed);
  if (cli.options.json === true) {
    const { runs, params, artifacts, links, skipped, created, changed, failed } = report;
    const contents = { params, artifacts, links };
    cli.printJson({
      runs,
      ...(isDry ? { dryRun: true, ...contents } : { created, changed, failed, ...contents }),
      skipped,
    });
    return;
  }
  const contents = [
    countOf(report.params, "param"),
    countOf(report.artifacts, "artifact"),
    countOf(report.links, "link"),
  ].join(", ");
  const { runs, created, changed, failed } = report;
  if (isDry) cli.print(`Would import ${countOf(runs, "run")}: ${contents}.`);
  else {
    const same = runs - created - changed - failed;
    const parts = [
      `${formatCount(created)} new`,
      `${formatCount(changed)} changed`,
      `${formatCount(same)} unchanged`,
    ];
    if (failed > 0) parts.push(`${formatCount(failed)} refused`);
    cli.print(`Imported ${countOf(runs, "run")}: ${parts.join(", ")}. Sent ${contents}.`);
  }
  if (report.skipped.length === 0) return;
  cli.note(`Skipped ${countOf(report.skipped.length, "entry", "entries")}:`);
  for (const { what, reason } of report.skipped.slice(0, SKIPPED_SHOWN)) {
    cli.note(`  ${printable(what)}: ${printable(reason)}`);
  }
  const more = report.skipped.length - SKIPPED_SHOWN;
  if (more > 0) cli.note(`  … and ${more} more; --json lists all`);
}
