import type { Command } from "commander";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { SeqRange } from "#proto/cairn/v1/metric_pb.ts";
import type { VerifyRunResponse, WriterLedger } from "#proto/cairn/v1/system_pb.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { LONG_CALL } from "../long-call.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { table } from "../output/table.ts";
import { paint, printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { chooseRuns, nameOf, type BatchOptions } from "../run-batch.ts";
import { tableWidth } from "../runs/table-width.ts";

const RANGES_SHOWN = 5;

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[runs...]", "name, id or its beginning, path or alias")
    .option("-n, --namespace <path>", "look only there and below")
    .option("--query <query>", "all runs that match, see docs/query.md")
    .option("--all", "read everything the server holds and check every checksum; for administrators")
    .addHelpText(
      "after",
      `
Exits with 1 when something is missing or damaged.

Examples:
  cairn verify first-try
  cairn verify --query 'started > now-1d' --json
  cairn verify --all`,
    )
    .action(async (words: string[], options: BatchOptions & { all?: boolean }) => {
      if (options.all === true) {
        if (words.length === 0 && options.query === undefined) return verifyAll(cli);
        throw new CommandError("cannot use --all together with runs or --query", { exitCode: EXIT.usage });
      }
      return verifyRuns(cli, words, options);
    });
}

async function verifyRuns(cli: Cli, words: readonly string[], options: BatchOptions): Promise<void> {
  const server = await cli.connect();
  const runs = await chooseRuns(server, words, options, false);
  const progress = cli.progress("checking", runs.length);
  const results: unknown[] = [];
  let badCount = 0;
  try {
    for (const [i, run] of runs.entries()) {
      if (cli.interrupted.aborted) return;
      const found = await server.system.verifyRun({ run: { id: run.id } }, LONG_CALL);
      const ok = isWhole(found);
      if (!ok) badCount++;
      if (cli.options.json === true) results.push(jsonVerdict(run, found, ok));
      else printVerdict(cli, run, found, ok);
      progress.update(i + 1);
    }
  } finally {
    progress.end();
  }
  if (badCount > 0) cli.endWith(EXIT.failed);
  if (cli.options.json === true) cli.printJson({ ok: badCount === 0, runs: results });
  else if (runs.length !== 1) {
    cli.print(
      `${countOf(runs.length, "run")} checked, ${badCount === 0 ? "all complete" : `${badCount} incomplete or damaged`}`,
    );
  }
}

/** Envelopes that a writer declared lost are missing, too. */
function isWhole({ writers, problems }: VerifyRunResponse): boolean {
  return problems.length === 0 && writers.every(({ gaps, lost }) => gaps.length === 0 && lost.length === 0);
}

function printVerdict(cli: Cli, run: Run, found: VerifyRunResponse, ok: boolean): void {
  const mark = ok ? paint(cli.colour, "green", "✓") : paint(cli.colour, "red", "✗");
  cli.print(
    `${mark} ${nameOf(run)}: ${printable(found.verdict)}, ${countOf(found.points, "point")} read back`,
  );
  if (found.unnumberedEnvelopes > 0n) {
    cli.print(`  and ${countOf(found.unnumberedEnvelopes, "envelope")} without a number`);
  }
  if (found.writers.length > 0) {
    const rows = found.writers.map((writer) => [
      printable(writer.writer),
      `${formatCount(writer.envelopes)} of ${formatCount(writer.lastSeq)}`,
      rangeWords(writer.gaps),
      rangeWords(writer.lost),
      formatAgo(writer.lastReceivedUs),
    ]);
    const columns = [
      { title: "writer", shrink: true },
      { title: "envelopes", align: "right" as const },
      { title: "gaps" },
      { title: "declared lost" },
      { title: "last" },
    ];
    const width = tableWidth(cli) - 2;
    const drawn = table(columns, rows, { colour: cli.colour, columns: width });
    cli.print(drawn.replaceAll(/^/gm, "  "));
  }
  for (const problem of found.problems) cli.print(`  ${printable(problem)}`);
}

function rangeWords(ranges: readonly SeqRange[]): string {
  if (ranges.length === 0) return "0";
  const words = ranges
    .slice(0, RANGES_SHOWN)
    .map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  return words.join(", ") + (ranges.length > RANGES_SHOWN ? ", …" : "");
}

function jsonVerdict(run: Run, found: VerifyRunResponse, ok: boolean) {
  return {
    run: run.id,
    name: run.name,
    ok,
    verdict: found.verdict,
    points: found.points,
    unnumberedEnvelopes: found.unnumberedEnvelopes,
    problems: found.problems,
    writers: found.writers.map(jsonWriter),
  };
}

function jsonWriter(writer: WriterLedger) {
  const plain = ({ first, last }: SeqRange) => ({ first, last });
  return {
    writer: writer.writer,
    envelopes: writer.envelopes,
    lastSeq: writer.lastSeq,
    gaps: writer.gaps.map(plain),
    lost: writer.lost.map(plain),
    firstReceived: isoTime(writer.firstReceivedUs),
    lastReceived: isoTime(writer.lastReceivedUs),
  };
}

async function verifyAll(cli: Cli): Promise<void> {
  const server = await cli.connect();
  cli.note("Reading everything. This may take long; the server stays usable.");
  const { ok, checkedPoints, checkedRuns, problems } = await server.system.checkIntegrity({}, LONG_CALL);
  if (!ok) cli.endWith(EXIT.failed);
  if (cli.options.json === true) {
    cli.printJson({ ok, checkedRuns, checkedPoints, problems });
    return;
  }
  const read = `${countOf(checkedRuns, "run")} and ${countOf(checkedPoints, "point")} read`;
  if (ok) cli.print(`${paint(cli.colour, "green", "✓")} ${read}, nothing is damaged`);
  else {
    cli.print(`${paint(cli.colour, "red", "✗")} ${read}, ${countOf(problems.length, "problem")}`);
    for (const problem of problems) cli.print(`  ${printable(problem)}`);
  }
}
