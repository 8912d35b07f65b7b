import type { Command } from "commander";
import { PatchDifference_How as How, type CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { differs, metricName, partWord, textsOf, verdictWord } from "#sdk/comparison.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { diffPage } from "../diff/diff-page.ts";
import { findDifference } from "../diff/differs.ts";
import { findRun } from "../find-run.ts";
import { limits } from "#lang/limits.ts";
import { wordOf } from "#lang/words/enums.ts";
import { countOf } from "#lang/words/numbers.ts";
import { tableWidth } from "../runs/table-width.ts";

const RUNS_MAX = limits.comparedRunsMax;

interface Options {
  all?: boolean;
  exitCode?: boolean;
  namespace?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<runs...>", "two or more: ids, names, aliases or paths")
    .option("--all", "also what is the same, every statistic, and system metrics")
    .option("--exit-code", "exit with 1 when they differ, like diff")
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
        throw new CommandError(`cannot compare ${countOf(texts.length, "run")}`, {
          exitCode: EXIT.usage,
          hint: `name 2 to ${RUNS_MAX}`,
        });
      }
      const server = await cli.connect();
      const runs: { id: string }[] = [];
      for (const text of texts) runs.push({ id: (await findRun(server, text, options.namespace)).id });
      const all = options.all === true;
      const compared = await server.explore.compareRuns({
        runs,
        stats: ["last", "min", "max"],
        onlyDifferent: !all,
        withPatches: true,
      });
      const different = findDifference(compared);
      if (different === undefined && options.exitCode === true) {
        throw new CommandError(
          "cannot tell whether the runs differ: they have more metrics than are compared",
          {
            exitCode: EXIT.usage,
          },
        );
      }
      if (cli.options.json === true) cli.printJson(jsonDiff(compared, different));
      else cli.print(diffPage(compared, { colour: cli.colour, columns: tableWidth(cli), all }).join("\n"));
      if (options.exitCode === true && different) cli.endWith(EXIT.failed);
    });
}

function jsonDiff(compared: CompareRunsResponse, different: boolean | undefined): Record<string, unknown> {
  const { runs, parts, metrics, patches } = compared;
  const rowsOf = (part: CompareRunsResponse["parts"][number]) =>
    part.rows
      .filter(differs)
      .map((row) => ({ key: row.key, values: textsOf(row).map((one) => one ?? null) }));
  return {
    runs: runs.map(({ id, name, namespace }) => ({ id, name, namespace })),
    differs: different ?? null,
    ...Object.fromEntries(parts.map((part) => [partWord(part), rowsOf(part)])),
    patches: patches.map(({ how, lines, moreLines }) => ({
      how: wordOf(How, how),
      diff: lines.join("\n"),
      moreLines,
    })),
    metrics: metrics
      .filter((row) => row.differs)
      .map((row) => ({
        key: metricName(row),
        stat: row.stat,
        values: row.values.map(({ value }) => value ?? null),
        direction: row.direction === Direction.UNSPECIFIED ? undefined : wordOf(Direction, row.direction),
        verdict: runs.length === 2 ? verdictWord(row.values[1]!) : undefined,
      })),
    metricsTruncated: compared.metricsTruncated,
  };
}
