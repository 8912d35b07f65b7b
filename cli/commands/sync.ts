import { existsSync } from "node:fs";
import type { Command } from "commander";
import { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { findServer } from "#sdk/login.ts";
import { spoolPath } from "#sdk/spool/owner.ts";
import { foldersOf, syncWriter, type SyncReport } from "#sdk/sync.ts";
import { CommandError, EXIT, type Cli, type ExitCode } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import { discardAll, retryAll } from "../sync/refused-commands.ts";
import { refusedAdvice, refusedLines, reportLine } from "../sync/report-lines.ts";

interface Options {
  /** What the command line named. */
  dir?: string | undefined;
  dryRun?: boolean;
  retry?: boolean;
  discard?: boolean;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument(
      "[dir]",
      "a spool, or the folder of one writer in it; by default CAIRN_SPOOL or ~/.local/state/cairn/spool",
    )
    .option("--dry-run", "only print what would be delivered")
    .option("--retry", "send what a server refused once more, and nothing else")
    .option("--discard", "delete what a server refused, and nothing else")
    .addHelpText(
      "after",
      `
Delivers what training jobs have left in the spool, each to its own server unless --server names another. Data of jobs
that ran without any server set goes to the one of --server, CAIRN_SERVER or the last login. Data that a running job is
still writing is skipped. Exits with 0 only when everything else was delivered. What a server refuses is kept, and
listed with the reason until --retry could send it or --discard deletes it.

Examples:
  cairn sync
  cairn sync --dry-run
  cairn sync /scratch/job-7/spool --server https://cairn.example.org
  cairn sync --retry`,
    )
    .action(async (dir: string | undefined, flags: Options) => {
      const options = { ...flags, dir };
      if ([flags.dryRun, flags.retry, flags.discard].filter(Boolean).length > 1) {
        throw new CommandError("cannot combine --dry-run, --retry and --discard", {
          exitCode: EXIT.usage,
          hint: "use one of them",
        });
      }
      const spool = dir ?? spoolPath(cli.env);
      if (dir !== undefined && !existsSync(dir)) {
        throw new CommandError(`cannot read spool "${printable(dir)}": there is no such folder`, {
          exitCode: EXIT.notFound,
        });
      }
      const folders = foldersOf(spool);
      if (flags.discard === true) return discardAll(cli, folders);
      if (flags.retry === true) return retryAll(cli, folders, (server) => connect(cli, server));
      const reports = await deliverAll(cli, folders, options.dryRun === true);
      if (cli.options.json === true) cli.printJson({ folders: reports.map(jsonReport) });
      else printReports(cli, reports, spool, options);
      if (options.dryRun === true) return;
      const bad = reports.filter((report) => !isWhole(report));
      if (bad.length > 0 || reports.length < folders.length) cli.endWith(exitCodeOf(bad));
    });
}

async function deliverAll(cli: Cli, folders: readonly string[], dryRun: boolean): Promise<SyncReport[]> {
  const counts = await Promise.all(folders.map((folder) => look(cli, folder)));
  const total = counts.reduce((sum, { left, isAlive }) => sum + (isAlive ? 0 : left), 0);
  if (dryRun) return counts;
  const progress = cli.progress("delivering", total);
  const reports: SyncReport[] = [];
  try {
    for (const folder of folders) {
      if (cli.interrupted.aborted) break;
      reports.push(
        await syncWriter(folder, {
          connect: (server) => connect(cli, server),
          signal: cli.interrupted,
          onEnvelope: () => progress.add(1),
          onUploadProgress: ({ name, sizeBytes }, sentBytes) => {
            progress.add(sentBytes === sizeBytes ? 1 : 0, printable(name));
          },
        }),
      );
    }
  } finally {
    progress.end();
  }
  return reports;
}

/** Where the data of a job without any server would go is decided now. */
async function look(cli: Cli, folder: string): Promise<SyncReport> {
  const report = await syncWriter(folder, {
    connect: () => Promise.reject(new Error("nothing is sent")),
    dryRun: true,
  });
  if (report.serverSet && cli.options.server === undefined) return report;
  const { url } = await findServer({ server: cli.options.server }, cli.env);
  return { ...report, server: url };
}

async function connect(cli: Cli, server: string): Promise<Cairn> {
  const chosen = cli.options.server ?? (server === "" ? undefined : server);
  return new Cairn(await findServer({ server: chosen }, cli.env));
}

/** Whether everything of it was delivered. */
function isWhole({ isDone, isAlive, refused, failure }: SyncReport): boolean {
  return failure === undefined && (isAlive || (isDone && refused === 0));
}

function exitCodeOf(bad: readonly SyncReport[]): ExitCode {
  const isAway = ({ failure }: SyncReport) => failure instanceof Failure && failure.reason === "UNREACHABLE";
  return bad.length > 0 && bad.every(isAway) ? EXIT.unreachable : EXIT.failed;
}

function printReports(cli: Cli, reports: readonly SyncReport[], dir: string, options: Options): void {
  if (reports.length === 0) {
    cli.print(`nothing to deliver in ${printable(dir)}`);
    return;
  }
  for (const report of reports) {
    cli.print(reportLine(report, options.dryRun === true));
    if (report.damages > 0) {
      cli.note(
        `  ${countOf(report.damages, "place")} in ${report.folder} cannot be read; the data there is lost`,
      );
    }
    for (const line of refusedLines(report)) cli.note(line);
  }
  for (const line of refusedAdvice(reports, options.dir)) cli.note(line);
}

function jsonReport({ failure, ...report }: SyncReport): unknown {
  return { ...report, ...(failure !== undefined && { error: failure.message }) };
}
