import type { Command } from "commander";
import { limits } from "#lang/limits.ts";
import { quoteList } from "#lang/query/quote.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Source } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { eachPage } from "#sdk/pages.ts";
import { listArtifacts } from "../artifacts/choose-artifacts.ts";
import { jsonArtifact } from "../artifacts/list-command.ts";
import type { Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { readLastLines } from "../logs/read-lines.ts";
import { jsonRun } from "../output/json-run.ts";
import { findObjective } from "../runs/objectives.ts";
import { fitLine } from "../runs/fit-line.ts";
import { tableWidth } from "../runs/table-width.ts";
import { jsonSeries, listRunSeries } from "../show/metric-rows.ts";
import { showPage, SOURCE_LINES_MAX, type ShownRun } from "../show/show-page.ts";

const LOG_LINES = 5;
/** Of which a page shows a few and counts the others. */
const ARTIFACTS_COUNTED = 1_000;

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
      const isJson = cli.options.json === true;
      const artifactsMax = isJson ? Infinity : ARTIFACTS_COUNTED;
      const shown = await gather(server, run, options.metrics ?? "", artifactsMax, cli.note);
      if (isJson) {
        const { series, totalCount } = shown.metrics;
        if (series.length < totalCount) {
          cli.note(
            `${formatCount(series.length)} of ${countOf(totalCount, "metric")}; --metrics GLOB selects others`,
          );
        }
        cli.printJson(jsonShown(shown));
        return;
      }
      const columns = tableWidth(cli);
      const lines = await showPage(server, shown, { colour: cli.colour, columns, ...options });
      for (const line of lines) cli.print(fitLine(line, columns));
    });
}

/** Everything that the page or the JSON document shows of a run. */
async function gather(
  server: Cairn,
  run: Run,
  glob: string,
  artifactsMax: number,
  note: Cli["note"],
): Promise<ShownRun> {
  const [objective, artifacts, sources, log] = await Promise.all([
    findObjective(server, run.namespace),
    firstArtifacts(server, run.id, artifactsMax),
    listSources(server, run.id),
    lastLines(server, run, note),
  ]);
  const metrics = await listRunSeries(server, run.id, glob, objective?.metric);
  return {
    run,
    objective,
    metrics,
    ...artifacts,
    sources,
    sourceNames: await namesOf(server, sources.slice(0, SOURCE_LINES_MAX)),
    log,
  };
}

async function firstArtifacts(
  server: Cairn,
  runId: string,
  most: number,
): Promise<Pick<ShownRun, "artifacts" | "moreArtifacts">> {
  const artifacts: Artifact[] = [];
  for await (const artifact of listArtifacts(server, runId, "")) {
    if (artifacts.length === most) return { artifacts, moreArtifacts: true };
    artifacts.push(artifact);
  }
  return { artifacts, moreArtifacts: false };
}

async function listSources(server: Cairn, runId: string): Promise<Source[]> {
  const request = { run: { id: runId }, pageSize: limits.pageSizeMax };
  const all: Source[] = [];
  const pages = eachPage((pageToken) => server.lineage.listSources({ ...request, pageToken }));
  for await (const { sources } of pages) all.push(...sources);
  return all;
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
  const ids = [...new Set(sources.map(({ runId }) => runId).filter((id) => id !== ""))];
  if (ids.length === 0) return new Map();
  const query = `id in ${quoteList(ids)}`;
  const { runs } = await server.runs.searchRuns({ query, columns: ["aliases"] });
  return new Map(runs.map(({ id, name }) => [id, name]));
}

function jsonShown({ run, metrics, artifacts, sources, log }: ShownRun): Record<string, unknown> {
  return {
    ...jsonRun(run),
    series: metrics.series.map(jsonSeries),
    seriesCount: metrics.totalCount,
    artifacts: artifacts.map((artifact: Artifact) => jsonArtifact(artifact)),
    sources: sources.map(({ runId, externalId, artifact, hidden }) => ({
      ...(hidden ? { hidden } : runId === "" ? { externalId } : { runId }),
      ...(artifact !== "" && { artifact }),
    })),
    ...(log.length > 0 && { lastLines: log.map(({ text }) => text) }),
  };
}
