import { InvalidArgumentError, type Command } from "commander";
import { wordOf } from "#lang/words/enums.ts";
import { countOf, formatCount, formatNumber } from "#lang/words/numbers.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cli } from "../cli.ts";
import { parseObjective } from "../namespaces.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { tableWidth } from "../runs/table-width.ts";

const ROWS_MAX = 50;

interface Options {
  namespace?: string;
  where?: string;
  all?: boolean;
}

interface Goal {
  field: string;
  direction: Direction;
}

export function addFrontier(parent: Command, cli: Cli): void {
  parent
    .command("frontier")
    .description("the runs that no other run beats in several numbers at once")
    .argument("<goals...>", "such as metrics.acc.max:max params.size:min", collectGoals)
    .option("-n, --namespace <path>", "only runs in this namespace and below")
    .option("--where <query>", "only runs that match; see docs/query.md")
    .option("--all", `more than the first ${ROWS_MAX}`)
    .addHelpText(
      "after",
      `
Examples:
  cairn explore frontier metrics.wer.min:min duration:min -n langtech/asr
  cairn explore frontier metrics.acc.max:max params.size:min --where 'status = "finished"'`,
    )
    .action(async (goals: Goal[], { namespace = "", where: query = "", all }: Options) => {
      const server = await cli.connect();
      const found = await server.explore.getFrontier({ runs: { query, namespace }, goals });
      if (cli.options.json === true) {
        cli.printJson({
          goals: goals.map(({ field, direction }) => ({ field, direction: wordOf(Direction, direction) })),
          runs: found.runs.map(({ runId, runName, namespace: path, values }) => ({
            id: runId,
            name: runName,
            namespace: path,
            values,
          })),
          totalCount: found.totalCount,
          compared: found.runCount,
        });
        return;
      }
      if (found.runs.length === 0) {
        cli.note("No run has a number for every goal.");
        return;
      }
      const shown = all === true ? found.runs : found.runs.slice(0, ROWS_MAX);
      const columns = [
        { title: "NAME", shrink: true, minWidth: 12 },
        ...goals.map(({ field }) => ({ title: printable(field), align: "right" as const })),
        { title: "NAMESPACE", shrink: true, minWidth: 10 },
      ];
      const rows = shown.map(({ runName, values, namespace: path }) => [
        printable(runName),
        ...values.map((value) => formatNumber(value, { even: true })),
        printable(path),
      ]);
      cli.print(table(columns, rows, { colour: cli.colour, columns: tableWidth(cli) }));
      const more = shown.length < found.totalCount ? `, ${formatCount(shown.length)} shown` : "";
      cli.note(`${countOf(found.totalCount, "run")} of ${formatCount(found.runCount)}${more}`);
    });
}

/** `metrics.acc.max:max`. */
function collectGoals(text: string, before: Goal[] | undefined): Goal[] {
  try {
    const { metric: field, direction } = parseObjective(text);
    return [...(before ?? []), { field, direction }];
  } catch {
    throw new InvalidArgumentError("expected FIELD:max or FIELD:min, such as metrics.acc.max:max");
  }
}
