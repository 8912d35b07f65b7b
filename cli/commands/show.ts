import type { Command } from "commander";
import { quoteList } from "#lang/query/quote.ts";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Source } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { jsonArtifact } from "../artifacts/list-command.ts";
import type { Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { readLastLines } from "../logs/read-lines.ts";
import { jsonRun } from "../output/json-run.ts";
import { findObjective } from "../runs/objectives.ts";
import { fitLine } from "../runs/fit-line.ts";
import { tableWidth } from "../runs/table-width.ts";
import { jsonSeries, listRunSeries } from "../show/metric-rows.ts";
import { showPage, type ShownRun } from "../show/show-page.ts";

const LOG_LINES = 5;
const ARTIFACTS_MAX = 1_000;
const SOURCES_MAX = 1_000;

interface Options {
  metrics?: string;
  params?: boolean;
  provenance?: boolean;
  namespace?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("<run>", "id, name, alias or path of a run")
    .option("--metrics <glob>", "only metrics, those that match: 'train/*', or '**' for all")
    .option("--params", "only params, but all of them")
    .option("--provenance", "only what is needed to run it again: code, patch, command, environment")
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
Examples:
  cairn show first-try
  cairn show first-try --metrics 'val/**'
  cairn show langtech/asr/first-try --provenance`,
    )
    .action(async (text: string, options: Options) => {
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const shown = await gather(server, run, options.metrics ?? "", cli.note);
      if (cli.options.json === true) {
        cli.printJson(jsonShown(shown));
        return;
      }
      const columns = tableWidth(cli);
      const lines = await showPage(server, shown, { colour: cli.colour, columns, ...options });
      for (const line of lines) cli.print(fitLine(line, columns));
    });
}

/** Everything that the page or the JSON document shows of a run. */
async function gather(server: Cairn, run: Run, glob: string, note: Cli["note"]): Promise<ShownRun> {
  const ref = { run: { id: run.id } };
  const [objective, artifacts, sources, log] = await Promise.all([
    findObjective(server, run.namespace),
    server.artifacts.listArtifacts({ ...ref, pageSize: ARTIFACTS_MAX }),
    server.lineage.listSources({ ...ref, pageSize: SOURCES_MAX }),
    lastLines(server, run, note),
  ]);
  const metrics = await listRunSeries(server, run.id, glob, objective?.metric);
  return {
    run,
    objective,
    metrics,
    artifacts: artifacts.artifacts,
    moreArtifacts: artifacts.nextPageToken !== "",
    sources: sources.sources,
    sourceNames: await namesOf(server, sources.sources),
    log,
  };
}

/** The reason for its end is mostly in the last lines. */
async function lastLines(server: Cairn, run: Run, note: Cli["note"]): Promise<ShownRun["log"]> {
  const isBad = run.status === RunStatus.FAILED || run.status === RunStatus.LOST;
  if (!isBad) return [];
  const { lines } = await readLastLines(
    server,
    { runId: run.id, filter: {}, ignoreCase: false, note },
    LOG_LINES,
  );
  return lines;
}

async function namesOf(server: Cairn, sources: readonly Source[]): Promise<Map<string, string>> {
  const ids = [...new Set(sources.map(({ runId }) => runId).filter((id) => id !== ""))].slice(0, SOURCES_MAX);
  if (ids.length === 0) return new Map();
  const query = `id in ${quoteList(ids)}`;
  const { runs } = await server.runs.searchRuns({ query, pageSize: SOURCES_MAX, columns: ["aliases"] });
  return new Map(runs.map(({ id, name }) => [id, name]));
}

function jsonShown({ run, metrics, artifacts, sources, log }: ShownRun): Record<string, unknown> {
  return {
    ...jsonRun(run),
    series: metrics.series.map(jsonSeries),
    artifacts: artifacts.map((artifact: Artifact) => jsonArtifact(artifact)),
    sources: sources.map(({ runId, externalId, artifact, hidden }) => ({
      ...(hidden ? { hidden } : runId === "" ? { externalId } : { runId }),
      ...(artifact !== "" && { artifact }),
    })),
    ...(log.length > 0 && { lastLines: log.map(({ text }) => text) }),
  };
}
