import { InvalidArgumentError, type Command } from "commander";
import { LineageDirection, SourceRole, type Lineage, type LineageNode } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { jsonArtifact } from "../artifacts/list-command.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { roleWord } from "../lineage/link-label.ts";
import { lineageDot } from "../lineage/lineage-dot.ts";
import { lineageTree, throughArtifact } from "../lineage/lineage-tree.ts";
import { wordOf } from "#lang/words/enums.ts";
import { fitLine } from "../runs/fit-line.ts";
import { tableWidth } from "../runs/table-width.ts";

const DEPTH_MAX = 100;

interface Options {
  depth?: number;
  sources?: boolean;
  children?: boolean;
  artifact?: string;
  dot?: boolean;
  namespace?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<run>", "id, name, alias or path of a run")
    .option("--depth <n>", "how many links away (default: 5, at most 100)", parseDepth)
    .option("--sources", "only what it was made from")
    .option("--children", "only what was made of it")
    .option("--artifact <name>", "only links through the artifact of this name")
    .option("--dot", "as a graph for Graphviz")
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
Examples:
  cairn lineage first-try
  cairn lineage first-try --sources --depth 20
  cairn lineage first-try --dot | dot -Tsvg > lineage.svg`,
    )
    .action(async (text: string, options: Options) => {
      if (options.sources === true && options.children === true) {
        throw new CommandError("cannot combine --sources and --children", {
          exitCode: EXIT.usage,
          hint: "leave out both to show both sides",
        });
      }
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const lineage = await server.lineage.getLineage({
        run: { id: run.id },
        direction: directionOf(options),
        depth: options.depth ?? 0,
      });
      const { artifact } = options;
      const shown = artifact === undefined ? lineage : throughArtifact(lineage, artifact);
      if (cli.options.json === true) cli.printJson(jsonLineage(shown));
      else if (options.dot === true) cli.print(lineageDot(shown));
      else {
        const tree = lineageTree(shown, { colour: cli.colour, namespace: run.namespace });
        for (const line of tree) cli.print(fitLine(line, tableWidth(cli)));
        if (lineage.truncated) cli.note("not all links are shown; raise --depth");
      }
    });
}

function directionOf({ sources, children }: Options): LineageDirection {
  if (sources === true) return LineageDirection.SOURCES;
  return children === true ? LineageDirection.CHILDREN : LineageDirection.BOTH;
}

function jsonLineage({ nodes, edges, truncated }: Lineage): Record<string, unknown> {
  return {
    nodes: nodes.map(jsonNode),
    edges: edges.map(({ source, child, artifact, role }) => ({
      source,
      child,
      ...(artifact !== "" && { artifact }),
      ...(role !== SourceRole.UNSPECIFIED && { role: roleWord(role) }),
    })),
    truncated,
  };
}

function jsonNode(node: LineageNode): Record<string, unknown> {
  const { hidden, externalId, runId, name, namespace, status, distance, artifacts } = node;
  if (hidden) return { hidden, distance };
  if (externalId !== "") return { externalId, distance };
  return {
    runId,
    name,
    namespace,
    status: wordOf(RunStatus, status),
    distance,
    artifacts: artifacts.map(jsonArtifact),
  };
}

function parseDepth(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= DEPTH_MAX) return Number(text);
  throw new InvalidArgumentError(`must be a whole number from 1 to ${DEPTH_MAX}.`);
}
