import { countOf, formatCount } from "#lang/words/numbers.ts";
import type { SyncReport } from "#sdk/sync.ts";
import { printable } from "../output/text.ts";

/** Of one folder; `--json` has all. */
const REFUSED_SHOWN = 20;

/** What happened to the folder of one writer, in one line. */
export function reportLine(report: SyncReport, dryRun: boolean): string {
  return `${printable(report.runId ?? report.writer)}: ${describe(report, dryRun)}`;
}

function describe(report: SyncReport, dryRun: boolean): string {
  const { isAlive, isDone, left, failure, folder, lost, refusedFrames } = report;
  if (isAlive) return `still being written by its process; ${countOf(left, "frame")} wait`;
  if (failure !== undefined) {
    return `${countOf(left, "frame")} left in ${folder}: ${printable(failure.message)}`;
  }
  if (dryRun) {
    const refused =
      refusedFrames.length > 0 ? `, ${countOf(refusedFrames.length, "frame")} refused before` : "";
    return `${countOf(left, "frame")} for ${printable(report.server || "a server that --server must name")}${refused}`;
  }
  const parts = [`${countOf(report.envelopes, "envelope")} delivered`];
  if (report.uploads > 0) parts.push(`${countOf(report.uploads, "file")} uploaded`);
  if (report.sources > 0) parts.push(`${countOf(report.sources, "source")} linked`);
  if (report.descriptions > 0) parts.push(`${countOf(report.descriptions, "metric")} described`);
  if (lost > 0) parts.push(`${countOf(lost, "envelope")} declared lost`);
  if (refusedFrames.length > 0) parts.push(`${countOf(refusedFrames.length, "frame")} refused`);
  if (!isDone) parts.push(`${countOf(left, "frame")} left`);
  return parts.join(", ");
}

/** What the server refused, now or before, with the reasons. */
export function refusedLines({ refusedFrames }: Pick<SyncReport, "refusedFrames">): string[] {
  const lines = refusedFrames.slice(0, REFUSED_SHOWN).map(({ what, why, path }) => {
    const reason = why === "" ? "the reason was not written down" : printable(why);
    return `  ${printable(what)}: ${reason} (${printable(path)})`;
  });
  const more = refusedFrames.length - lines.length;
  if (more > 0) lines.push(`  … ${formatCount(more)} more; --json has all`);
  return lines;
}

/** What to do with them. `dir` is what the command line named. */
export function refusedAdvice(reports: readonly SyncReport[], dir: string | undefined): string[] {
  const count = reports.reduce((sum, { refusedFrames }) => sum + refusedFrames.length, 0);
  if (count === 0) return [];
  const where = dir === undefined ? "" : ` ${dir}`;
  return [
    `${countOf(count, "frame")} that the server refused ${count === 1 ? "is" : "are"} kept. When the reason is gone, ` +
      `\`cairn sync${where} --retry\` sends ${count === 1 ? "it" : "them"} again; ` +
      `\`cairn sync${where} --discard\` deletes ${count === 1 ? "it" : "them"}.`,
  ];
}
