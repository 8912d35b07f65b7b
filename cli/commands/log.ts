import { Option, type Command } from "commander";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { KATIB_FILTER } from "../log/katib-lines.ts";
import {
  addProvenanceOptions,
  countStated,
  stateProvenance,
  type ProvenanceOptions,
} from "../log/provenance-options.ts";
import { paramJson, parseValue, splitPair, type MetricValue } from "../log/parse-pairs.ts";
import { pipeRun } from "../log/pipe-run.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";

interface LogOptions extends ProvenanceOptions {
  step?: string;
  label?: string[];
  param?: string[];
  tag?: string[];
  line?: string[];
  status?: keyof typeof STATUSES;
  create?: boolean;
  namespace?: string;
  katibStyle?: boolean;
  filter?: string;
}

const STATUSES = {
  running: RunStatus.RUNNING,
  finished: RunStatus.FINISHED,
  failed: RunStatus.FAILED,
  killed: RunStatus.KILLED,
} as const;

export default function add(command: Command, cli: Cli): void {
  const more = (value: string, before: string[] = []) => [...before, value];
  addProvenanceOptions(command)
    .argument("<run>", "name, id or its beginning, path or alias")
    .argument("[metrics...]", "name=value: a number, true, false or a text")
    .option("--step <n>", "a whole number; by default one more than the last of these metrics")
    .option("--label <name=value>", "a label of the metrics; may be given again", more)
    .option("--param <name=value>", "a param, as JSON or as a text; may be given again", more)
    .option("--tag <name=value>", "a tag; may be given again", more)
    .option("--line <text>", "a line for the log; may be given again", more)
    .addOption(new Option("--status <status>", "status of the run").choices(Object.keys(STATUSES)))
    .option("--create", "make the run when there is none, with this name and alias")
    .option("-n, --namespace <path>", "where to look for the run, or to make it")
    .option("--katib-style", "read lines with name=value from standard input, and pass them through")
    .option("--filter <pattern>", "with --katib-style: pattern of a metric, with groups for name and value")
    .addHelpText(
      "after",
      `
What is logged is durable when the command ends with 0. A call without an answer may still have been stored.

Examples:
  cairn log first-try loss=0.31 acc=0.9 --step 10
  cairn log nightly --create -n team/ci --param commit=4f2a --tag branch=main
  cairn log nightly --line "tests passed" --status finished
  cairn log first-try --training-data s3://data/c4@v3 --initial-state hf://bert@sha256:0a1b… --study ablation
  cairn log first-try --clear training-data --training-data s3://data/c4@v4
  ./train.sh | cairn log first-try --katib-style`,
    )
    .action(async (name: string, pairs: string[], options: LogOptions) => {
      const metrics = new Map(
        pairs.map((pair) => splitPair(pair, "metric")).map(([key, text]) => [key, parseValue(text)]),
      );
      const labels = record(options.label, "label");
      const server = await cli.connect();
      const runId = await chooseRun(server, name, options);
      if (options.katibStyle === true) {
        if (options.status === "running") throw usage('cannot end a pipe with status "running"');
        const filter = filterOf(options.filter ?? KATIB_FILTER);
        await write(cli, server, runId, metrics, labels, { ...options, status: undefined }, true);
        await pipeRun(cli, { runId, filter, labels, status: options.status });
        return;
      }
      if (options.filter !== undefined) throw usage("cannot use --filter without --katib-style");
      await write(cli, server, runId, metrics, labels, options, false);
    });
}

function usage(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.usage });
}

async function chooseRun(
  server: Cairn,
  name: string,
  { create, namespace = "" }: LogOptions,
): Promise<string> {
  try {
    return (await findRun(server, name, namespace)).id;
  } catch (thrown) {
    const isMissing = thrown instanceof CommandError && thrown.exitCode === EXIT.notFound;
    if (create !== true || !isMissing) throw thrown;
  }
  // Two scripts that begin at the same time get the same run.
  const { run } = await server.runs.createRun({ namespace, name, aliases: [name], getOrCreate: true });
  return run!.id;
}

/** One envelope without a number, so that all calls count as one writer and do not replace each other's points. */
async function write(
  cli: Cli,
  server: Cairn,
  runId: string,
  metrics: ReadonlyMap<string, MetricValue>,
  labels: Record<string, string>,
  options: Omit<LogOptions, "status"> & { status?: LogOptions["status"] | undefined },
  isQuiet: boolean,
): Promise<void> {
  const { param = [], tag, line = [], status } = options;
  const params = Object.fromEntries(
    param.map((pair) => splitPair(pair, "param")).map(([key, text]) => [key, paramJson(text)]),
  );
  const tags = record(tag, "tag");
  const stated = countStated(options);
  const said =
    metrics.size + param.length + Object.keys(tags).length + line.length + (status === undefined ? 0 : 1);
  if (said + stated === 0) {
    if (isQuiet) return;
    throw usage(
      "cannot log: nothing given; give metrics as name=value, --param, --tag, --line, --status or provenance such as --training-data",
    );
  }
  await stateProvenance(server, runId, options);
  if (said === 0) {
    if (!isQuiet) report(cli, runId, { points: 0, lines: 0, stated });
    return;
  }
  const step =
    metrics.size === 0 ? undefined : await stepOf(server, runId, [...metrics.keys()], labels, options.step);
  const timeUs = BigInt(Date.now()) * 1000n;
  await server.metrics.writeEnvelope({
    run: { id: runId },
    series: [...metrics].map(([key, value]) =>
      Object.assign(
        { key, labels, timesUs: [timeUs], steps: step === undefined ? [] : [step] },
        columnOf(value),
      ),
    ),
    params,
    tags,
    log: line.length === 0 ? [] : [{ lines: line, timesUs: line.map(() => timeUs), written: true }],
    status: status === undefined ? RunStatus.UNSPECIFIED : STATUSES[status],
  });
  if (!isQuiet) report(cli, runId, { points: metrics.size, step, lines: line.length, stated });
}

interface Logged {
  points: number;
  step?: bigint | undefined;
  lines: number;
  /** Fields of provenance. */
  stated: number;
}

function report(cli: Cli, runId: string, { points, step, lines, stated }: Logged): void {
  if (cli.options.json === true) {
    const more = { ...(step !== undefined && { step }), ...(stated > 0 && { provenance: stated }) };
    cli.printJson({ runId, points, lines, ...more });
    return;
  }
  const parts = [
    ...(points === 0 && stated > 0 ? [] : [countOf(points, "point")]),
    ...(step === undefined ? [] : [`step ${step}`]),
    ...(stated === 0 ? [] : [`${countOf(stated, "field")} of provenance`]),
  ];
  cli.print(`${printable(runId)}: ${parts.join(", ")}`);
}

function columnOf(value: MetricValue) {
  if (typeof value === "number") return { kind: SeriesKind.NUMBER, values: [value] };
  if (typeof value === "boolean") return { kind: SeriesKind.BOOL, bools: [value] };
  return { kind: SeriesKind.TEXT, texts: [value] };
}

/** The step that was given, or the one after the last of these metrics. */
async function stepOf(
  server: Cairn,
  runId: string,
  keys: readonly string[],
  labels: Record<string, string>,
  given: string | undefined,
): Promise<bigint> {
  if (given !== undefined) {
    if (/^-?\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given))) return BigInt(given);
    throw usage(`cannot use step "${printable(given)}": it must be a whole number up to 2^53`);
  }
  let next = 0n;
  for (const key of keys) {
    const { series } = await server.metrics.listSeries({
      run: { id: runId },
      regex: `^${escapePattern(key)}$`,
    });
    for (const one of series) {
      const step = one.summary?.last?.step;
      if (step !== undefined && sameLabels(one.labels, labels) && step >= next) next = step + 1n;
    }
  }
  return next;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function sameLabels(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

function record(pairs: readonly string[] | undefined, what: string): Record<string, string> {
  return Object.fromEntries((pairs ?? []).map((pair) => splitPair(pair, what)));
}

function filterOf(pattern: string): RegExp {
  try {
    const filter = new RegExp(pattern, "g");
    // With an empty alternative it always matches, and its groups can be counted.
    const groups = new RegExp(`${pattern}|`).exec("")!.length - 1;
    if (groups >= 2) return filter;
  } catch (thrown) {
    throw usage(`cannot use filter "${printable(pattern)}": ${(thrown as Error).message}`);
  }
  throw usage(
    `cannot use filter "${printable(pattern)}": it needs a group for the name and one for the value`,
  );
}
