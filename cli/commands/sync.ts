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

export default function add(command: Command, cli: Cli): void {
  command
    .argument(
      "[dir]",
      "a spool, or the folder of one writer in it; by default CAIRN_SPOOL or ~/.local/state/cairn/spool",
    )
    .option("--dry-run", "only print what would be delivered")
    .addHelpText(
      "after",
      `
Delivers what training jobs have left in the spool, each to its own server unless --server names another. Data that
a running job is still writing is skipped. Exits with 0 only when everything else was delivered.

Examples:
  cairn sync
  cairn sync --dry-run
  cairn sync /scratch/job-7/spool --server https://cairn.example.org`,
    )
    .action(async (dir: string | undefined, options: { dryRun?: boolean }) => {
      const spool = dir ?? spoolPath(cli.env);
      if (dir !== undefined && !existsSync(dir)) {
        throw new CommandError(`cannot read spool "${printable(dir)}": there is no such folder`, {
          exitCode: EXIT.notFound,
        });
      }
      const folders = foldersOf(spool);
      const reports = await deliverAll(cli, folders, options.dryRun === true);
      if (cli.options.json === true) cli.printJson({ folders: reports.map(jsonReport) });
      else printReports(cli, reports, spool, options.dryRun === true);
      if (options.dryRun === true) return;
      const bad = reports.filter((report) => !isWhole(report));
      if (bad.length > 0 || reports.length < folders.length) cli.endWith(exitCodeOf(bad));
    });
}

async function deliverAll(cli: Cli, folders: readonly string[], dryRun: boolean): Promise<SyncReport[]> {
  const counts = await Promise.all(folders.map((folder) => look(folder)));
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
          onRefused: (what, why, kept) =>
            cli.note(
              `the server refuses ${printable(what)}: ${printable(why)}${kept === undefined ? "" : ` (kept in ${kept})`}`,
            ),
        }),
      );
    }
  } finally {
    progress.end();
  }
  return reports;
}

function look(folder: string): Promise<SyncReport> {
  return syncWriter(folder, { connect: () => Promise.reject(new Error("nothing is sent")), dryRun: true });
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

function printReports(cli: Cli, reports: readonly SyncReport[], dir: string, dryRun: boolean): void {
  if (reports.length === 0) {
    cli.print(`nothing to deliver in ${printable(dir)}`);
    return;
  }
  for (const report of reports) {
    cli.print(`${printable(report.runId ?? report.writer)}: ${describe(report, dryRun)}`);
    if (report.damages > 0) {
      cli.note(
        `  ${countOf(report.damages, "place")} in ${report.folder} cannot be read; the data there is lost`,
      );
    }
  }
}

function describe(report: SyncReport, dryRun: boolean): string {
  const { isAlive, isDone, left, failure, folder, server, refused, lost } = report;
  if (isAlive) return `still being written by its process; ${countOf(left, "frame")} wait`;
  if (failure !== undefined) {
    return `${countOf(left, "frame")} left in ${folder}: ${printable(failure.message)}`;
  }
  if (dryRun)
    return `${countOf(left, "frame")} for ${printable(server || "a server that --server must name")}`;
  const parts = [`${countOf(report.envelopes, "envelope")} delivered`];
  if (report.uploads > 0) parts.push(`${countOf(report.uploads, "file")} uploaded`);
  if (report.sources > 0) parts.push(`${countOf(report.sources, "source")} linked`);
  if (lost > 0) parts.push(`${countOf(lost, "envelope")} declared lost`);
  if (refused > 0) parts.push(`${countOf(refused, "frame")} refused, kept in ${folder}/refused`);
  if (!isDone) parts.push(`${countOf(left, "frame")} left`);
  return parts.join(", ");
}

function jsonReport({ failure, ...report }: SyncReport): unknown {
  return { ...report, ...(failure !== undefined && { error: failure.message }) };
}
