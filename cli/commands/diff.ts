import type { Command } from "commander";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { compareMetrics, verdictOf, type MetricRow } from "../diff/compare-metrics.ts";
import { compareRuns, type DiffRow, type RunDiff } from "../diff/compare-runs.ts";
import { diffPage } from "../diff/diff-page.ts";
import { findRun } from "../find-run.ts";
import { wordOf } from "#lang/words/enums.ts";
import { tableWidth } from "../runs/table-width.ts";

const RUNS_MAX = 50;

interface Options {
  all?: boolean;
  exitCode?: boolean;
  namespace?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<runs...>", "two or more: ids, names, aliases or paths")
    .option("--all", "also what is the same, every statistic, and what the machine did")
    .option("--exit-code", "end with 1 when they differ, as diff does")
    .option("-n, --namespace <path>", "where to look for the runs")
    .addHelpText(
      "after",
      `
Examples:
  cairn diff first-try second-try
  cairn diff base tuned wider --all
  cairn diff first-try second-try --exit-code --json`,
    )
    .action(async (texts: string[], options: Options) => {
      if (texts.length < 2 || texts.length > RUNS_MAX) {
        throw new CommandError(`cannot compare ${texts.length} run${texts.length === 1 ? "" : "s"}`, {
          exitCode: EXIT.usage,
          hint: `name 2 to ${RUNS_MAX}`,
        });
      }
      const server = await cli.connect();
      const runs: Run[] = [];
      for (const text of texts) runs.push(await findRun(server, text, options.namespace));
      const all = options.all === true;
      const diff = compareRuns(runs);
      const metrics = await compareMetrics(server, runs, { all: all || cli.options.json === true });
      const differs = isDifferent(diff, metrics);
      if (cli.options.json === true) cli.printJson(jsonDiff(runs, diff, metrics, differs));
      else {
        const page = diffPage(runs, diff, metrics, { colour: cli.colour, columns: tableWidth(cli), all });
        cli.print(page.join("\n"));
      }
      if (options.exitCode === true && differs) cli.endWith(EXIT.failed);
    });
}

function isDifferent({ patches, ...parts }: RunDiff, metrics: readonly MetricRow[]): boolean {
  const rows = [...Object.values(parts).flat(), ...metrics];
  return rows.some(({ differs }) => differs) || patches.some((patch) => patch.length > 0);
}

function jsonDiff(
  runs: readonly Run[],
  { patches, ...parts }: RunDiff,
  metrics: readonly MetricRow[],
  differs: boolean,
): Record<string, unknown> {
  const part = (rows: readonly DiffRow[]) =>
    rows
      .filter((row) => row.differs)
      .map(({ key, values }) => ({ key, values: values.map((one) => one ?? null) }));
  return {
    runs: runs.map(({ id, name, namespace }) => ({ id, name, namespace })),
    differs,
    ...Object.fromEntries(Object.entries(parts).map(([name, rows]) => [name, part(rows)])),
    patches: patches.map((lines) => lines.join("\n")),
    metrics: metrics
      .filter((row) => row.differs)
      .map((row) => ({
        key: row.name,
        stat: row.stat,
        values: row.values.map((value) => value ?? null),
        direction: row.direction === Direction.UNSPECIFIED ? undefined : wordOf(Direction, row.direction),
        verdict: runs.length === 2 ? verdictOf(row) : undefined,
      })),
  };
}
