import { once } from "node:events";
import { InvalidArgumentError, type Command } from "commander";
import { LogOrigin, type LogLine } from "#proto/cairn/v1/log_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { shortId } from "#sdk/run-facts.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { followLines } from "../logs/follow-lines.ts";
import { lineMatcher } from "../logs/line-matcher.ts";
import { LineText } from "../logs/line-text.ts";
import { readLastLines, readLines, type LineSelection } from "../logs/read-lines.ts";
import { isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { printable } from "../output/text.ts";
import { parseCount } from "../parse-count.ts";
import { parseTime } from "../runs/parse-time.ts";

/** 32 bits with a sign, as in the API. */
const RANK_MAX = 2 ** 31 - 1;

interface Options {
  follow?: boolean;
  tail?: number;
  grep?: string;
  regex?: string;
  ignoreCase?: boolean;
  stream?: string;
  rank?: number;
  origin?: LogOrigin;
  since?: bigint;
  timestamps?: boolean;
  raw?: boolean;
  namespace?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<run>", "id, name, alias or path of a run")
    .option("-f, --follow", "print lines as they arrive, until the run ends")
    .option("--tail <n>", "only the last N lines", parseCount(0))
    .option("--grep <text>", "only lines that contain this text")
    .option("--regex <pattern>", "only lines that match (RE2)")
    .option("-i, --ignore-case", "--grep and --regex ignore case")
    .option("--stream <name>", "only of this stream, such as stderr")
    .option("--rank <n>", "only of this rank", parseCount(0, RANK_MAX))
    .option("--origin <origin>", "only of the process or of the scheduler", parseOrigin)
    .option("--since <time>", "only newer lines: 10m, 2h, 2026-01-31, 2026-01-31T10:00:00Z", parseSince)
    .option("--timestamps", "begin each line with its time")
    .option("--raw", "lines as they were logged, with colours and control characters")
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
With several ranks, each line begins with its rank. With --json a document that has all lines; with --json -f
one document per line.

Examples:
  cairn logs first-try --tail 50
  cairn logs first-try -f --rank 0
  cairn logs first-try --grep "out of memory" -i --timestamps`,
    )
    .action(async (text: string, options: Options) => {
      if (options.grep !== undefined && options.regex !== undefined) {
        throw new CommandError("cannot combine --grep and --regex", {
          exitCode: EXIT.usage,
          hint: "use one of them",
        });
      }
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const selection = selectionOf(cli, run.id, options);
      const write =
        options.follow !== true && cli.options.json === true ? arrayWriter(cli) : lineWriter(cli, options);
      const { next, isEmpty } = await writeHistory(server, selection, options, write);
      if (isEmpty && options.tail !== 0) cli.note(emptyWords(run, selection));
      if (options.follow === true) await follow(cli, server, selection, next, write);
      await write.end();
    });
}

interface Writer {
  lines(lines: readonly LogLine[]): Promise<void>;
  end(): Promise<void>;
}

function selectionOf(
  cli: Cli,
  runId: string,
  { stream, rank, origin, since, grep, regex, ignoreCase }: Options,
): LineSelection {
  return {
    runId,
    text: grep || undefined,
    regex: regex || undefined,
    ignoreCase: ignoreCase === true,
    note: cli.note,
    filter: {
      ...(stream !== undefined && { stream }),
      ...(rank !== undefined && { rank }),
      ...(origin !== undefined && { origin }),
      ...(since !== undefined && { fromUs: since }),
    },
  };
}

/** Prints the lines so far; gives the number to continue from, and whether there were none. */
async function writeHistory(
  server: Cairn,
  selection: LineSelection,
  { tail }: Options,
  write: Writer,
): Promise<{ next: bigint; isEmpty: boolean }> {
  if (tail !== undefined) {
    const { lines, next } = await readLastLines(server, selection, tail);
    await write.lines(lines);
    return { next, isEmpty: lines.length === 0 };
  }
  const pages = readLines(server, selection, 0n);
  for (let isEmpty = true; ;) {
    const page = await pages.next();
    if (page.done === true) return { next: page.value, isEmpty };
    isEmpty &&= page.value.length === 0;
    await write.lines(page.value);
  }
}

/** Silence could also mean that something went wrong. */
function emptyWords({ name, id, status }: Run, { filter, text, regex }: LineSelection): string {
  const run = printable(name || shortId(id));
  if (Object.keys(filter).length > 0 || text !== undefined || regex !== undefined) {
    return `no line of ${run} matches`;
  }
  if (status === RunStatus.RUNNING) return `${run} has no log lines yet`;
  return `${run} has no log lines: its job sent no console output, and \`cairn log --line\` was not used`;
}

async function follow(
  cli: Cli,
  server: Cairn,
  selection: LineSelection,
  from: bigint,
  write: Writer,
): Promise<void> {
  const matches = lineMatcher(selection);
  const pages = followLines(server, selection, {
    from,
    signal: cli.interrupted,
    onBreak: (cause) => cli.note(`cairn: connection lost (${cause}), retrying`),
    onResume: () => cli.note("cairn: reconnected"),
  });
  for await (const page of pages) await write.lines(page.filter(({ text }) => matches(text)));
}

function lineWriter(cli: Cli, options: Options): Writer {
  const text = new LineText({
    colour: cli.colour,
    timestamps: options.timestamps === true,
    raw: options.raw === true,
  });
  return {
    lines: async (lines) => {
      text.see(lines);
      const show = (line: LogLine) =>
        cli.options.json === true ? JSON.stringify(jsonLine(line)) : text.of(line);
      if (lines.length > 0) await writeOut(cli, lines.map((line) => `${show(line)}\n`).join(""));
    },
    end: async () => {},
  };
}

/** One document, written as it comes: a log may be larger than the memory. */
function arrayWriter(cli: Cli): Writer {
  let isFirst = true;
  return {
    lines: async (lines) => {
      if (lines.length === 0) return;
      const items = lines.map((line) => `  ${JSON.stringify(jsonLine(line))}`).join(",\n");
      await writeOut(cli, `${isFirst ? "[\n" : ",\n"}${items}`);
      isFirst = false;
    },
    end: () => writeOut(cli, isFirst ? "[]\n" : "\n]\n"),
  };
}

async function writeOut({ surroundings: { stdout } }: Cli, text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, "drain");
}

function jsonLine({ number, timeUs, origin, stream, rank, text }: LogLine): Record<string, unknown> {
  return {
    number: Number(number),
    time: isoTime(timeUs),
    origin: wordOf(LogOrigin, origin),
    stream,
    rank,
    text,
  };
}

function parseOrigin(word: string): LogOrigin {
  if (word === "process") return LogOrigin.PROCESS;
  if (word === "scheduler") return LogOrigin.SCHEDULER;
  throw new InvalidArgumentError("must be process or scheduler.");
}

function parseSince(text: string): bigint {
  return parseTime(text);
}
