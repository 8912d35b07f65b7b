import type { Command } from "commander";
import type { Lineage, MetadataValue, TrackerArtifact, TrackerBase } from "#sdk/tracker/api.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import type { PythonValue } from "../output/python-text.ts";
import { tabulate } from "../output/tabulate.ts";
import { printable } from "../output/text.ts";

const NOTE = `
The tracker is the first that .torchxconfig or TORCHX_TRACKERS names, as for torchx itself, else the server; with --server
it is the server. RUN_ID is what TorchX calls the run, such as local_cwd://torchx/sh-f6bbfhdznx3bm.
`;
const JOBS_EXAMPLES = `
  cairn tracker list jobs
  cairn tracker list jobs --parent-run-id local_cwd://torchx/base-1`;
const METADATA_EXAMPLES = `
  cairn tracker list metadata local_cwd://torchx/tuned-7
  cairn tracker list metadata local_cwd://torchx/tuned-7 --json`;
const ARTIFACTS_EXAMPLES = `
  cairn tracker list artifacts local_cwd://torchx/tuned-7
  cairn tracker list artifacts --artifact model local_cwd://torchx/tuned-7`;
const LINEAGE_EXAMPLES = `
  cairn tracker list lineage local_cwd://torchx/tuned-7
  cairn tracker list lineage --sources-only --artifact weights local_cwd://torchx/tuned-7`;
const EXAMPLES = JOBS_EXAMPLES + METADATA_EXAMPLES + ARTIFACTS_EXAMPLES + LINEAGE_EXAMPLES;

const help = (examples: string) => `${NOTE}\nExamples:${examples}`;

export default function add(command: Command, cli: Cli): void {
  command
    .addHelpText("after", help(EXAMPLES))
    .action(() => command.outputHelp())
    .helpCommand(false);
  const list = command
    .command("list")
    .description("jobs, and metadata, artifacts and lineage of one")
    .addHelpText("after", help(EXAMPLES))
    .helpCommand(false);
  list.action(() => list.outputHelp());
  list
    .command("jobs")
    .description("ids of runs")
    .option("--parent-run-id <id>", "only those that were made directly from this run")
    .addHelpText("after", help(JOBS_EXAMPLES))
    .action(async ({ parentRunId }: { parentRunId?: string }) => {
      const tracker = await findTracker(cli);
      const ids = await tracker.runIds({ parentRunId: parentRunId ?? null });
      if (cli.options.json === true) return cli.printJson(ids);
      cli.print(
        tabulate(
          ["JOB ID"],
          ids.map((id) => [id]),
        ),
      );
    });
  list
    .command("metadata")
    .description("metadata of a run")
    .argument("<RUN_ID>")
    .addHelpText("after", help(METADATA_EXAMPLES))
    .action(async (runId: string) => {
      const metadata = await (await findTracker(cli)).metadata(runId);
      if (cli.options.json === true) return cli.printJson(Object.fromEntries(metadata));
      cli.print(tabulate(["ID", "VALUE"], [...metadata]));
    });
  list
    .command("artifacts")
    .description("artifacts of a run and where they are")
    .argument("<RUN_ID>")
    .option("--artifact <name>", "only the one of this name")
    .addHelpText("after", help(ARTIFACTS_EXAMPLES))
    .action(async (runId: string, { artifact }: { artifact?: string }) => {
      const all = [...(await (await findTracker(cli)).artifacts(runId)).values()];
      const wanted = all.filter(({ name }) => artifact === undefined || name === artifact);
      if (cli.options.json === true) return cli.printJson(wanted.map(artifactJson));
      const rows = wanted.map(({ name, path, metadata }) => [name, path, objectOf(metadata)]);
      cli.print(tabulate(["ARTIFACT", "PATH", "METADATA"], rows));
    });
  list
    .command("lineage")
    .description("what a run was made from, and what was made from it")
    .argument("<RUN_ID>")
    .option("--sources-only", "only what it was made from")
    .option("--descendants-only", "only what was made from it")
    .option("--artifact <name>", "only what is linked through this artifact")
    .addHelpText("after", help(LINEAGE_EXAMPLES))
    .action(async (runId: string, options: LineageOptions) => {
      if (options.sourcesOnly === true && options.descendantsOnly === true) {
        throw new CommandError("cannot combine --sources-only and --descendants-only", {
          exitCode: EXIT.usage,
          hint: "use one of them, or neither for both sides",
        });
      }
      printLineage(await (await findTracker(cli)).lineage(runId), options, cli);
    });
}

/** Named on the command line, or configured for TorchX, or else the server. */
async function findTracker(cli: Cli): Promise<TrackerBase> {
  const [{ configuredTrackers }, { buildTrackers }] = await Promise.all([
    import("#sdk/tracker/torchx-config.ts"),
    import("#sdk/tracker/trackers-from-environ.ts"),
  ]);
  const project = { env: cli.env, cwd: cli.surroundings.cwd() };
  const choices = cli.options.server === undefined ? await configuredTrackers(project) : new Map();
  const problems: string[] = [];
  for (const choice of choices.values()) {
    const report = (problem: string) => void problems.push(problem);
    const [tracker] = await buildTrackers([choice], { ...project, report });
    if (tracker === undefined) continue;
    for (const problem of problems) cli.note(`cairn: ${printable(problem)}`);
    return tracker;
  }
  if (problems.length > 0) {
    throw new CommandError(printable(problems.join("\n  ")), {
      hint: "fix .torchxconfig or TORCHX_TRACKERS, or name a server with --server",
    });
  }
  const { CairnTracker } = await import("#sdk/tracker/cairn/cairn-tracker.ts");
  return new CairnTracker(await cli.connect());
}

interface LineageOptions {
  sourcesOnly?: boolean;
  descendantsOnly?: boolean;
  artifact?: string;
}

interface LineageRow {
  relation: "source" | "descendant";
  distance: number;
  runId: string;
  /** Through which it is linked; none for a link without. */
  artifacts: string[];
}

function printLineage(lineage: Lineage, options: LineageOptions, cli: Cli): void {
  const rows = lineageRows(lineage, options);
  if (cli.options.json === true) {
    const { hiddenCount, truncated } = lineage;
    const artifacts = [...lineage.artifacts.values()].map(artifactJson);
    return cli.printJson({ runs: rows, links: lineage.links, artifacts, hiddenCount, truncated });
  }
  const cells = rows.map((row) => [row.relation, row.distance, row.runId, row.artifacts.join(", ")]);
  cli.print(tabulate(["RELATION", "DISTANCE", "RUN ID", "ARTIFACT"], cells));
  if (lineage.hiddenCount > 0) cli.note(`${lineage.hiddenCount} more that you may not see`);
  if (lineage.truncated) cli.note("the lineage has more links than are shown");
}

function lineageRows(lineage: Lineage, options: LineageOptions): LineageRow[] {
  const named = (links: Lineage["links"]) => [
    ...new Set(links.flatMap(({ artifactName }) => artifactName ?? [])),
  ];
  const sources = lineage.ancestors.map(({ runId, distance }): LineageRow => {
    const links = lineage.links.filter((link) => link.sourceRunId === runId);
    return { relation: "source", distance, runId, artifacts: named(links) };
  });
  const descendants = lineage.descendants.map(({ runId, distance }): LineageRow => {
    const links = lineage.links.filter((link) => link.runId === runId);
    return { relation: "descendant", distance, runId, artifacts: named(links) };
  });
  return [
    ...(options.descendantsOnly === true ? [] : sources),
    ...(options.sourcesOnly === true ? [] : descendants),
  ].filter(({ artifacts }) => options.artifact === undefined || artifacts.includes(options.artifact));
}

function artifactJson({ name, path, metadata }: TrackerArtifact): object {
  return { name, path, metadata: objectOf(metadata) };
}

function objectOf(metadata: ReadonlyMap<string, MetadataValue> | null): PythonValue {
  return metadata === null ? null : Object.fromEntries(metadata);
}
