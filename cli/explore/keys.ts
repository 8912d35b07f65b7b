import { Option, type Command } from "commander";
import { betterWords } from "#lang/words/directions.ts";
import { wordOf } from "#lang/words/enums.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { leafOf, leafWord } from "#lang/json/leaf.ts";
import { FieldKind, type FieldInfo } from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { eachPage } from "#sdk/pages.ts";
import { bestStat } from "#sdk/direction.ts";
import type { Cli } from "../cli.ts";
import { table } from "../output/table.ts";
import { paint, printable } from "../output/text.ts";
import { tableWidth } from "../runs/table-width.ts";

const KINDS: Readonly<Record<string, FieldKind>> = {
  params: FieldKind.PARAM,
  tags: FieldKind.TAG,
  metrics: FieldKind.METRIC,
};
const PAGE = 1_000;
const ROWS_MAX = 100;
const VALUES_SHOWN = 8;

interface Options {
  namespace?: string;
  kind?: string;
  find?: string;
  all?: boolean;
}

export function addKeys(parent: Command, cli: Cli): void {
  parent
    .command("keys")
    .description("the params, tags and metrics that runs have, and their values")
    .argument("[query]", "only of runs that match; see docs/query.md")
    .option("-n, --namespace <path>", "only of runs in this namespace and below")
    .addOption(new Option("--kind <kind>", "only one kind").choices(Object.keys(KINDS)))
    .option("--find <text>", "only keys that contain this text")
    .option("--all", `more than the first ${ROWS_MAX}`)
    .addHelpText(
      "after",
      `
Params that differ between the runs come first, the most distinctive before others.

Examples:
  cairn explore keys
  cairn explore keys 'status = "failed"' -n langtech --kind params
  cairn explore keys --find lr --json`,
    )
    .action(async (query = "", options: Options) => {
      const server = await cli.connect();
      const request = {
        runs: { query, namespace: options.namespace ?? "" },
        kinds: options.kind === undefined ? [] : [KINDS[options.kind]!],
        find: options.find ?? "",
        pageSize: PAGE,
      };
      const wanted = options.all === true || cli.options.json === true ? Infinity : ROWS_MAX;
      const fields: FieldInfo[] = [];
      let runs = 0n;
      for await (const page of eachPage((pageToken) =>
        server.explore.listFields({ ...request, pageToken }),
      )) {
        runs = page.runCount;
        if (fields.push(...page.fields) > wanted) break;
      }
      if (cli.options.json === true) cli.printJson({ runs, keys: fields.map(jsonField) });
      else printFields(cli, fields, wanted, runs);
    });
}

function printFields(cli: Cli, fields: readonly FieldInfo[], wanted: number, runs: bigint): void {
  if (fields.length === 0) {
    cli.note(runs === 0n ? "No runs match." : "No keys match.");
    return;
  }
  const { colour } = cli;
  const shown = fields.slice(0, wanted);
  const rows = shown.map((field) => [
    paint(colour, "dim", wordOf(FieldKind, field.kind)),
    printable(field.key),
    formatCount(field.runCount),
    field.kind === FieldKind.METRIC ? metricWords(field) : valueWords(field),
  ]);
  const columns = [
    { title: "KIND" },
    { title: "KEY", shrink: true, minWidth: 16 },
    { title: "RUNS", align: "right" as const },
    { title: "VALUES", shrink: true, minWidth: 20 },
  ];
  cli.print(table(columns, rows, { colour, columns: tableWidth(cli) }));
  const more = fields.length > shown.length ? "; --all shows more keys" : "";
  cli.note(`of ${countOf(runs, "run")}${more}`);
}

function valueWords({ values, moreValues }: FieldInfo): string {
  const words = values.slice(0, VALUES_SHOWN).map(({ json, runCount }) => {
    return `${printable(leafWord(leafOf(json)))} (${formatCount(runCount)})`;
  });
  return [...words, ...(moreValues || values.length > VALUES_SHOWN ? ["…"] : [])].join(", ");
}

function metricWords({ direction, unit, description }: FieldInfo): string {
  return [unit, betterWords(bestStat(direction)), description]
    .filter((word) => word !== "")
    .map(printable)
    .join(", ");
}

function jsonField(field: FieldInfo): Record<string, unknown> {
  return {
    kind: wordOf(FieldKind, field.kind),
    key: field.key,
    runs: field.runCount,
    varies: field.varies,
    values: field.values.map(({ json, runCount }) => ({ json, runs: runCount })),
    moreValues: field.moreValues,
    ...(field.direction !== Direction.UNSPECIFIED && { direction: wordOf(Direction, field.direction) }),
    ...(field.unit !== "" && { unit: field.unit }),
  };
}
