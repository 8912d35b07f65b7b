import { InvalidArgumentError, Option, type Command } from "commander";
import { betterWords } from "#lang/words/directions.ts";
import { wordOf } from "#lang/words/enums.ts";
import { Picture, type KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { listKeys } from "#sdk/pages.ts";
import type { Cli } from "../cli.ts";
import { DIRECTION_WORDS, jsonKey, PICTURE_WORDS, pictureWord, rangeWords } from "../keys/key-description.ts";
import { padEnd, paint, printable } from "../output/text.ts";
import { table } from "../output/table.ts";
import { tableWidth } from "../runs/table-width.ts";

interface Described {
  namespace: string;
  unit?: string;
  direction?: keyof typeof DIRECTION_WORDS | "none";
  min?: number | "none";
  max?: number | "none";
  picture?: string;
  description?: string;
}

const EXAMPLES = `
What holds in a namespace holds below it, too, unless it is described there. The objective of a namespace, which decides
what its best run is, is set by \`cairn ns describe PATH --objective METRIC:max\`.

Examples:
  cairn keys ls -n langtech/asr
  cairn keys describe val/wer -n langtech/asr --unit % --direction min --min 0
  cairn keys describe val/acc -n langtech/asr --direction max --min 0 --max 1 --picture accuracy
  cairn ns describe langtech/asr --objective val/wer:min`;

export default function add(command: Command, cli: Cli): void {
  command
    .command("ls")
    .description("the metrics that are described in a namespace")
    .requiredOption("-n, --namespace <path>", "the namespace")
    .addHelpText(
      "after",
      "\nExamples:\n  cairn keys ls -n langtech/asr\n  cairn keys ls -n langtech/asr --json",
    )
    .action(({ namespace }: { namespace: string }) => list(cli, namespace));
  command
    .command("describe")
    .description("show what a metric means; with options, change it")
    .argument("<metric-key>", "such as val/acc")
    .requiredOption("-n, --namespace <path>", "the namespace; it also counts below")
    .option("--unit <text>", 'such as ms or %; "" removes it')
    .addOption(
      new Option("--direction <direction>", "which values are better").choices([
        ...Object.keys(DIRECTION_WORDS),
        "none",
      ]),
    )
    .option("--min <number>", "the least value it can have; none removes it", parseEnd)
    .option("--max <number>", "the greatest value it can have; none removes it", parseEnd)
    .addOption(new Option("--picture <kind>", "how it is drawn").choices([...PICTURE_WORDS, "none"]))
    .option("--description <text>", 'what it is, in words; "" removes them')
    .addHelpText("after", EXAMPLES)
    .action((key: string, options: Described) => describe(cli, key, options));
  command.addHelpText("after", EXAMPLES);
}

async function list(cli: Cli, namespace: string): Promise<void> {
  const server = await cli.connect();
  const keys = await listKeys(server, namespace);
  if (cli.options.json === true) {
    cli.printJson(keys.map(jsonKey));
    return;
  }
  if (keys.length === 0) {
    // An unknown namespace is an error; one without descriptions is not.
    await server.namespaces.getNamespace({ path: namespace });
    cli.note(`No metric of ${printable(namespace)} is described. \`cairn keys describe\` describes one.`);
    return;
  }
  const columns = ["metric", "unit", "better", "range", "picture", "description", "described in"];
  const rows = keys.map((key) => [
    printable(key.key),
    printable(key.unit),
    directionWord(key.direction),
    rangeWords(key),
    pictureWord(key.picture),
    printable(key.description),
    printable(key.namespace),
  ]);
  // Columns in which no metric has anything are left out.
  const kept = columns.flatMap((_title, at) => (rows.some((row) => row[at] !== "") ? [at] : []));
  const titles = kept.map((at) => ({ title: columns[at]!, shrink: at === 0 || at >= 5 }));
  cli.print(
    table(
      titles,
      rows.map((row) => kept.map((at) => row[at]!)),
      { colour: cli.colour, columns: tableWidth(cli) },
    ),
  );
}

async function describe(cli: Cli, key: string, options: Described): Promise<void> {
  const { namespace } = options;
  const server = await cli.connect();
  const held = await heldDescription(server, namespace, key);
  const changes = changesOf(options);
  const isChange = Object.keys(changes).length > 0;
  const shown = isChange
    ? await server.metrics.describeKey({ description: { ...held, ...changes, namespace, key } })
    : held;
  if (cli.options.json === true) cli.printJson(jsonKey(shown));
  else printKey(cli, shown);
}

type Description = Omit<KeyDescription, "$typeName" | "$unknown">;

/** What holds in the namespace now, also of a namespace above it. */
async function heldDescription(server: Cairn, namespace: string, key: string): Promise<KeyDescription> {
  const keys = await listKeys(server, namespace);
  const found = keys.find((one) => one.key === key);
  if (found !== undefined) return found;
  const none: Description = {
    namespace,
    key,
    unit: "",
    direction: Direction.UNSPECIFIED,
    description: "",
    picture: Picture.UNSPECIFIED,
  };
  return none as KeyDescription;
}

/** Only what the command line names. */
function changesOf({ unit, direction, min, max, picture, description }: Described): Partial<Description> {
  return {
    ...(unit !== undefined && { unit }),
    ...(direction !== undefined && {
      direction: direction === "none" ? Direction.UNSPECIFIED : DIRECTION_WORDS[direction],
    }),
    ...(min !== undefined && { min: min === "none" ? undefined : min }),
    ...(max !== undefined && { max: max === "none" ? undefined : max }),
    ...(picture !== undefined && { picture: pictureOf(picture) }),
    ...(description !== undefined && { description }),
  };
}

function pictureOf(word: string): Picture {
  return Object.values(Picture).find((value) => pictureWord(value) === word) ?? Picture.UNSPECIFIED;
}

function printKey(cli: Cli, key: KeyDescription): void {
  cli.print(`${paint(cli.colour, "bold", printable(key.key))}  in ${printable(key.namespace)}`);
  const rows = [
    ["unit", printable(key.unit)],
    ["better", directionWord(key.direction)],
    ["range", rangeWords(key)],
    ["picture", pictureWord(key.picture)],
  ].filter(([, text]) => text !== "");
  for (const [label, text] of rows) cli.print(`  ${padEnd(label!, 8)} ${text}`);
  for (const line of key.description === "" ? [] : key.description.split("\n")) {
    cli.print(`  ${printable(line)}`);
  }
  if (rows.length === 0 && key.description === "") cli.print("  not described");
}

function directionWord(direction: Direction): string {
  return direction === Direction.UNSPECIFIED ? "" : betterWords(wordOf(Direction, direction));
}

function parseEnd(text: string): number | "none" {
  if (text === "none") return text;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("expected a number, or none");
}
