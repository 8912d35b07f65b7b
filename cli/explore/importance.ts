import type { Command } from "commander";
import { countOf, formatCount, formatNumber } from "#lang/words/numbers.ts";
import type { GetImportanceResponse, ParamImportance } from "#proto/cairn/v1/explore_pb.ts";
import type { Cli } from "../cli.ts";
import { table } from "../output/table.ts";
import { paint, printable } from "../output/text.ts";
import { tableWidth } from "../runs/table-width.ts";

const BAR_WIDTH = 20;
const NAMES_SHOWN = 8;

interface Options {
  namespace?: string;
  objective?: string;
}

export function addImportance(parent: Command, cli: Cli): void {
  parent
    .command("importance")
    .description("how strongly each param correlates with the objective")
    .argument("[query]", "only runs that match; see docs/query.md")
    .option("-n, --namespace <path>", "only runs in this namespace and below")
    .option("--objective <field>", "such as metrics.loss.min (default: the namespace's objective)")
    .addHelpText(
      "after",
      `
A rank correlation, or for texts and bent curves how much groups differ; 1 is the maximum. It shows
correlation, not causation.

Examples:
  cairn explore importance -n langtech/asr
  cairn explore importance 'params.optim.name = "adam"' --objective metrics.val_loss.min`,
    )
    .action(async (query = "", { namespace = "", objective = "" }: Options) => {
      const server = await cli.connect();
      const found = await server.explore.getImportance({ runs: { query, namespace }, objective });
      if (cli.options.json === true) cli.printJson(jsonImportance(found));
      else printImportance(cli, found);
    });
}

function printImportance(cli: Cli, found: GetImportanceResponse): void {
  const { colour } = cli;
  cli.print(
    `${paint(colour, "bold", printable(found.objective))}  ${paint(colour, "dim", countOf(found.runCount, "run"))}`,
  );
  if (found.params.length > 0) {
    const rows = found.params.map((param) => [
      printable(param.key),
      formatNumber(param.strength, { even: true }),
      paint(colour, param.isChance ? "dim" : "cyan", "█".repeat(Math.round(param.strength * BAR_WIDTH))),
      formatCount(param.runCount),
      remarksOn(param),
    ]);
    const columns = [
      { title: "PARAM", shrink: true, minWidth: 12 },
      { title: "STRENGTH", align: "right" as const },
      { title: "" },
      { title: "RUNS", align: "right" as const },
      { title: "", shrink: true, minWidth: 10 },
    ];
    cli.print(table(columns, rows, { colour, columns: tableWidth(cli) }));
  }
  for (const [names, count, words] of [
    [found.constant, found.constantCount, "the same in all these runs"],
    [found.rare, found.rareCount, "in too few of these runs"],
  ] as const) {
    if (count === 0n) continue;
    const more = count > NAMES_SHOWN ? `, … (${formatCount(count)})` : "";
    cli.print(
      paint(colour, "dim", `${words}: ${names.slice(0, NAMES_SHOWN).map(printable).join(", ")}${more}`),
    );
  }
  if (found.leftOut > 0n) cli.note(`${countOf(found.leftOut, "param")} that vary less were left out`);
}

function remarksOn({ rho, isChance, isCurved, related }: ParamImportance): string {
  const words: string[] = [];
  if (isChance) words.push("may be by chance");
  else if (isCurved) words.push("best in the middle or at the ends");
  else if (rho !== undefined) words.push(rho > 0 ? "rises with it" : "falls with it");
  if (related.length > 0) words.push(`correlates with ${related.map(printable).join(", ")}`);
  return words.join("; ");
}

function jsonImportance(found: GetImportanceResponse): Record<string, unknown> {
  return {
    objective: found.objective,
    runs: found.runCount,
    params: found.params.map(({ key, strength, rho, runCount, isChance, isCurved, related }) => ({
      key,
      strength,
      rho: rho ?? null,
      runs: runCount,
      isChance,
      isCurved,
      related,
    })),
    constant: found.constant,
    rare: found.rare,
    leftOut: found.leftOut,
  };
}
