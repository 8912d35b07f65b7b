import { Option, type Command } from "commander";
import type { Direction, Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import {
  CAPTURES,
  bestWords,
  captureWords,
  jsonNamespace,
  nestNamespaces,
  objectiveWords,
  parseObjective,
  type Capture,
  type NamespaceNode,
} from "../namespaces.ts";
import { listNamespaces } from "#sdk/pages.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { cut, padEnd, padStart, paint, printable, widthOf } from "../output/text.ts";
import { formatAgo } from "#lang/words/times.ts";
import { treeLines, type Branch } from "../output/tree.ts";
import { addMove } from "../ns/move-command.ts";
import { addTrash } from "../ns/trash-commands.ts";
import { addTags, tagLines } from "../ns/tags-command.ts";
import { tableWidth } from "../runs/table-width.ts";

interface Described {
  description?: string;
  objective?: { metric: string; direction: Direction } | false;
}

interface Captured {
  forbid: Capture[];
  allow: Capture[];
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[path]", "only this namespace and what is below it", "")
    .option("--trashed", "those in the trash instead")
    .action((path: string, { trashed = false }: { trashed?: boolean }) => showTree(cli, path, trashed))
    .addHelpText(
      "after",
      `
Examples:
  cairn ns
  cairn ns langtech/asr
  cairn ns create langtech/asr --description "speech to text" --objective wer:min
  cairn ns capture langtech/asr --forbid console
  cairn ns tags langtech/asr team=speech
  cairn ns mv langtech/asr speech/asr
  cairn ns rm langtech/old`,
    );
  command
    .command("create")
    .description("make a namespace, and its parents")
    .argument("<path>")
    .option("--description <text>", "what it is for")
    .option("--objective <metric:max|min>", "the objective of its runs", parseObjective)
    .addHelpText("after", "\nExamples:\n  cairn ns create langtech/asr --objective wer:min")
    .action(async (path: string, { description = "", objective }: Described) => {
      const server = await cli.connect();
      const made = await server.namespaces.createNamespace({
        path,
        description,
        ...(objective && { objective }),
      });
      if (cli.options.json === true) cli.printJson(jsonNamespace(made));
      else cli.print(`Created ${printable(made.path)}.`);
    });
  command
    .command("describe")
    .description("show one namespace; with options, change it")
    .argument("<path>")
    .option("--description <text>", "what it is for")
    .option("--objective <metric:max|min>", "the objective of its runs", parseObjective)
    .option("--no-objective", "remove the objective")
    .addHelpText(
      "after",
      "\nExamples:\n  cairn ns describe langtech/asr\n  cairn ns describe langtech/asr --objective wer:min",
    )
    .action((path: string, options: Described) => describe(cli, path, options));
  command
    .command("capture")
    .description(
      "what clients may capture automatically in a namespace and below it; with options, change it",
    )
    .argument("<path>")
    .addOption(new Option("--forbid <what...>", "what must not be captured").choices(CAPTURES).default([]))
    .addOption(new Option("--allow <what...>", "what may be captured again").choices(CAPTURES).default([]))
    .addHelpText(
      "after",
      `
console is what a program prints; code is the archive of the working directory and the patch of
uncommitted changes. Changing it needs the role admin on the namespace. What a namespace above forbids
stays forbidden, and what was stored before stays.

Examples:
  cairn ns capture langtech/asr
  cairn ns capture langtech/asr --forbid console code
  cairn ns capture langtech/asr --allow console`,
    )
    .action((path: string, options: Captured) => capture(cli, path, options));
  addTags(command, cli);
  addMove(command, cli);
  addTrash(command, cli);
}

async function showTree(cli: Cli, path: string, trashed: boolean): Promise<void> {
  const server = await cli.connect();
  const under = path.replace(/\/+$/, "");
  const namespaces = await listNamespaces(server, { under, withBest: true, trashed });
  if (under !== "" && namespaces.length === 0) {
    throw new CommandError(`cannot find namespace "${under}"`, {
      exitCode: EXIT.notFound,
      hint: trashed ? "`cairn ns --trashed` shows all of them" : "`cairn ns` shows all of them",
    });
  }
  if (cli.options.json === true) {
    cli.printJson(namespaces.map(jsonNamespace));
    return;
  }
  if (namespaces.length === 0) {
    if (trashed) cli.note("There is no namespace in the trash.");
    else
      cli.note(
        "There are no namespaces yet. Namespaces are made with their first run, or with `cairn ns create PATH`.",
      );
    return;
  }
  const flat: (Namespace | undefined)[] = [];
  const branch = (node: NamespaceNode): Branch => {
    flat.push(node.namespace);
    const text = paint(cli.colour && node.children.length > 0, "bold", printable(node.name));
    return { text, children: node.children.map(branch) };
  };
  const lines = treeLines(nestNamespaces(namespaces, under).map(branch));
  for (const line of withColumns(cli, lines, flat)) cli.print(line);
}

/** The counts are in columns beside the tree; of those in the trash, which have none, since when they are there. */
function withColumns(cli: Cli, lines: readonly string[], flat: readonly (Namespace | undefined)[]): string[] {
  const cells = flat.map((namespace) =>
    namespace === undefined
      ? ["", "", "", ""]
      : namespace.deletedUs !== 0n
        ? ["", "", formatAgo(namespace.deletedUs), ""]
        : [
            countOf(namespace.subtreeRunCount, "run"),
            namespace.subtreeRunningCount === 0n
              ? ""
              : `${formatCount(namespace.subtreeRunningCount)} running`,
            namespace.lastActivityUs === 0n ? "" : formatAgo(namespace.lastActivityUs),
            judgedWords(namespace),
          ],
  );
  const widths = [0, 1, 2, 3].map((i) => Math.max(...cells.map((row) => widthOf(row[i]!))));
  const treeWidth = Math.max(...lines.map(widthOf));
  return lines.map((line, at) => {
    const [runs, running, ago, objective] = cells[at]! as [string, string, string, string];
    const numbers = [
      padStart(runs, widths[0]!),
      ...(widths[1] === 0 ? [] : [paint(cli.colour, "cyan", padStart(running, widths[1]!))]),
      ...(widths[2] === 0 ? [] : [paint(cli.colour, "dim", padEnd(ago, widths[2]!))]),
    ].join("  ");
    const start = `${padEnd(line, treeWidth)}  ${numbers}`;
    const room = tableWidth(cli) - widthOf(start) - 2;
    return objective === "" || room < 6 ? start.trimEnd() : `${start}  ${cut(objective, room)}`;
  });
}

/** The objective if it is the namespace's own, and the best run. */
function judgedWords(namespace: Namespace): string {
  const isOwn = namespace.heldObjective?.namespace === namespace.path;
  return [isOwn ? objectiveWords(namespace) : "", bestWords(namespace)]
    .filter((words) => words !== "")
    .join("  ");
}

async function describe(cli: Cli, path: string, { description, objective }: Described): Promise<void> {
  const server = await cli.connect();
  // `--no-objective` gives every command line without it a default of true.
  const changesObjective = objective !== undefined && (objective as unknown) !== true;
  const namespace =
    description === undefined && !changesObjective
      ? await server.namespaces.getNamespace({ path, withBest: true })
      : await server.namespaces.updateNamespace({
          path,
          ...(description !== undefined && { description }),
          ...(changesObjective && (objective ? { objective } : { clearObjective: true })),
        });
  if (cli.options.json === true) {
    cli.printJson(jsonNamespace(namespace));
    return;
  }
  cli.print(paint(cli.colour, "bold", printable(namespace.path)));
  if (namespace.description !== "") {
    for (const line of namespace.description.split("\n")) cli.print(`  ${printable(line)}`);
  }
  const tags = tagLines(namespace);
  tags.forEach((line, at) => cli.print(`  ${at === 0 ? "tags" : "    "}       ${line}`));
  const held = namespace.heldObjective;
  const from =
    held === undefined || held.namespace === namespace.path ? "" : `  (of ${printable(held.namespace)})`;
  cli.print(`  objective  ${objectiveWords(namespace) || "none"}${from}`);
  if (namespace.best !== undefined) cli.print(`  best       ${bestWords(namespace)}`);
  printActivity(cli, namespace);
  cli.print(`  created    ${formatAgo(namespace.createdUs)}`);
  if (namespace.id !== 0n) cli.print(`  id         ${namespace.id}`);
  if (namespace.forbiddenCapture === undefined) return;
  const forbidden = CAPTURES.filter((what) => namespace.forbiddenCapture![what] !== "");
  cli.print(`  capture    ${forbidden.map((what) => `${what} ${captureWords(namespace, what)}`).join(", ")}`);
}

/** Runs in the trash are not counted. */
function printActivity(cli: Cli, namespace: Namespace): void {
  if (namespace.deletedUs !== 0n) {
    cli.print(`  in trash   ${formatAgo(namespace.deletedUs)}`);
    return;
  }
  const running = `${formatCount(namespace.subtreeRunningCount)} running`;
  cli.print(
    `  runs       ${formatCount(namespace.runCount)} here, ${formatCount(namespace.subtreeRunCount)} with all below, ${running}`,
  );
  cli.print(`  active     ${formatAgo(namespace.lastActivityUs)}`);
}

async function capture(cli: Cli, path: string, { forbid, allow }: Captured): Promise<void> {
  const both = CAPTURES.find((what) => forbid.includes(what) && allow.includes(what));
  if (both !== undefined) {
    throw new CommandError(`cannot both forbid and allow "${both}"`, { exitCode: EXIT.usage });
  }
  const server = await cli.connect();
  const setting = (what: Capture) =>
    forbid.includes(what) ? true : allow.includes(what) ? false : undefined;
  const [forbidConsole, forbidCode] = [setting("console"), setting("code")];
  const namespace =
    forbid.length + allow.length === 0
      ? await server.namespaces.getNamespace({ path })
      : await server.namespaces.updateNamespace({
          path,
          ...(forbidConsole !== undefined && { forbidConsole }),
          ...(forbidCode !== undefined && { forbidCode }),
        });
  if (cli.options.json === true) {
    cli.printJson(jsonNamespace(namespace));
    return;
  }
  for (const what of CAPTURES) cli.print(`${padEnd(what, 7)}  ${captureWords(namespace, what)}`);
}
