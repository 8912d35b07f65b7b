import { isSystemMetric } from "#lang/metric-key.ts";
import { shellLine } from "#lang/words/shell-line.ts";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Source } from "#proto/cairn/v1/lineage_pb.ts";
import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import type { SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import type { HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { durationOf, shortId } from "#sdk/run-facts.ts";
import { isReference } from "../artifacts/choose-artifacts.ts";
import { readable } from "../logs/line-text.ts";
import { countOf, formatBytes, formatCount } from "#lang/words/numbers.ts";
import { table } from "../output/table.ts";
import { cut, paint, printable, widthOf } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { formatAgo, formatDuration, formatTime } from "#lang/words/times.ts";
import {
  groupByKey,
  groupCells,
  metricCells,
  printableName,
  readSparklines,
  SPARKLINES_MAX,
  type RunSeries,
} from "./metric-rows.ts";
import { paramTree } from "./param-tree.ts";
import { labelled, provenanceInFull, provenanceSummary, type Labelled } from "./provenance-lines.ts";

/** What fits on one screen beside the rest; the options of `show` show all. */
const PARAM_LINES_MAX = 14;
const METRIC_ROWS_MAX = 10;
const ARTIFACT_LINES_MAX = 5;
export const SOURCE_LINES_MAX = 5;
const SPARK_WIDTH_MIN = 10;
const SPARK_WIDTH_MAX = 40;
const METRIC_KEY_WIDTH = 28;

export interface ShownRun {
  run: Run;
  objective: HeldObjective | undefined;
  metrics: RunSeries;
  artifacts: readonly Artifact[];
  moreArtifacts: boolean;
  sources: readonly Source[];
  /** Of those on the page that the caller may see, by run id. */
  sourceNames: ReadonlyMap<string, string>;
  /** Only of a run that went wrong. */
  log: readonly LogLine[];
}

export interface ShowOptions {
  colour: boolean;
  columns: number;
  /** When one of these is given, only that part is shown, and in full. */
  metrics?: string;
  params?: boolean;
  provenance?: boolean;
}

/** An overview of a run on one screen, the most important first. */
export async function showPage(server: Cairn, shown: ShownRun, options: ShowOptions): Promise<string[]> {
  const { colour } = options;
  const isPart = options.metrics !== undefined || options.params === true || options.provenance === true;
  const lines = isPart ? [titleOf(shown.run, colour)] : header(shown, options);
  const section = (title: string, body: readonly string[], count = "") => {
    if (body.length === 0) return;
    lines.push(
      "",
      `${paint(colour, "bold", title)}${paint(colour, "dim", count === "" ? "" : `  ${count}`)}`,
    );
    lines.push(...body.map((line) => (line === "" ? "" : `  ${line}`)));
  };
  if (!isPart) section("Last lines", lastLines(shown.log, colour));
  if (!isPart || options.params === true) {
    const tree = paramTree(shown.run.params, colour);
    section("Params", isPart ? tree : firstOf(tree, PARAM_LINES_MAX, "--params shows all", colour));
  }
  if (!isPart || options.metrics !== undefined) {
    section("Metrics", await metricLines(server, shown, options, isPart), metricCount(shown.metrics));
  }
  if (!isPart) {
    section("Artifacts", artifactLines(shown, colour));
    section("Sources", sourceLines(shown, colour));
    section("Provenance", labelled(provenanceSummary(shown.run), colour));
  }
  if (options.provenance === true) {
    const { provenance } = shown.run;
    section(
      "Provenance",
      provenance === undefined ? ["none was recorded"] : provenanceInFull(provenance, colour),
    );
  }
  return lines;
}

function titleOf({ name, status, namespace, deletedUs }: Run, colour: boolean): string {
  const trash = deletedUs === 0n ? "" : paint(colour, "yellow", "  in the trash");
  return `${paint(colour, "bold", printable(name))}  ${statusMark(status, colour)}${trash}  ${paint(colour, "dim", printable(namespace))}`;
}

function header({ run }: ShownRun, { colour, columns }: ShowOptions): string[] {
  const rows: Labelled[] = [["id", run.id]];
  if (run.aliases.length > 0) rows.push(["alias", run.aliases.join(", ")]);
  const seconds = durationOf(run, Date.now());
  const took =
    seconds === undefined ? "" : `, ${run.endedUs === 0n ? "for" : "took"} ${formatDuration(seconds)}`;
  rows.push(
    run.startedUs === 0n
      ? ["created", `${formatTime(run.createdUs)} (${formatAgo(run.createdUs)}), has not started`]
      : ["started", `${formatTime(run.startedUs)} (${formatAgo(run.startedUs)})${took}`],
  );
  const who = whoWords(run);
  if (who !== "") rows.push(["by", who]);
  const command = run.provenance?.command ?? [];
  if (command.length > 0) rows.push(["command", shellLine(command)]);
  const tags = Object.keys(run.tags).sort();
  if (tags.length > 0) rows.push(["tags", tags.map((key) => `${key}=${run.tags[key]}`).join("  ")]);
  const [note = "", ...more] = run.notes.trim().split("\n");
  if (note !== "")
    rows.push(["notes", more.length > 0 ? `${cut(note, Math.min(columns, 100) - 12)} …` : note]);
  return [titleOf(run, colour), ...labelled(rows, colour)];
}

/** "ada, ended by bob": the others only where they are not the one who created it. */
function whoWords({ creator, endedBy, changedBy, deletedBy }: Run): string {
  const others = [
    ["ended by", endedBy],
    ["changed by", changedBy],
    ["moved to the trash by", deletedBy],
  ].flatMap(([did, name]) => (name === "" || name === creator ? [] : [`${did} ${name}`]));
  return [...(creator === "" ? [] : [creator]), ...others].join(", ");
}

function lastLines(log: readonly LogLine[], colour: boolean): string[] {
  return log.map(({ text, stream }) => {
    const line = readable(text);
    return stream === "stderr" ? paint(colour, "red", line) : line;
  });
}

function metricCount({ series, totalCount }: RunSeries): string {
  const system = series.filter(({ key }) => isSystemMetric(key)).length;
  if (totalCount <= METRIC_ROWS_MAX) return "";
  if (series.length < totalCount) {
    return `${formatCount(totalCount)}; only the first ${formatCount(series.length)} were read`;
  }
  return `${formatCount(totalCount)}${system > 0 ? `, ${formatCount(system)} of them system/` : ""}`;
}

async function metricLines(
  server: Cairn,
  { run, metrics, objective }: ShownRun,
  { colour, columns }: ShowOptions,
  isAll: boolean,
): Promise<string[]> {
  // System metrics are left out here, unless there are no others.
  const own = metrics.series.filter(({ key }) => !isSystemMetric(key));
  const groups = isAll
    ? metrics.series.map((info) => [info])
    : groupByKey(own.length > 0 ? own : metrics.series).slice(0, METRIC_ROWS_MAX);
  if (groups.length === 0) return [];
  const isStarred = groups.some(([first]) => first!.key === objective?.metric);
  const cells = groups.map((group) => {
    const [first] = group as [SeriesInfo];
    const star = !isStarred ? "" : first.key === objective?.metric ? "★ " : "  ";
    const keyWidth = METRIC_KEY_WIDTH * (isAll ? 2 : 1);
    if (group.length === 1) return [star + cut(printableName(first), keyWidth)].concat(metricCells(first));
    return [`${star}${cut(printable(first.key), keyWidth - 4)} ×${group.length}`].concat(groupCells(group));
  });
  const titles = ["", "last", "min", "", "max", "", "points"];
  const used = titles.reduce((sum, title, i) => {
    return sum + 2 + Math.max(widthOf(title), ...cells.map((row) => widthOf(row[i]!)));
  }, 2);
  const width = Math.min(SPARK_WIDTH_MAX, columns - used);
  const hasRoom = width >= SPARK_WIDTH_MIN;
  const single = groups.map((group) => (group.length === 1 ? group[0] : undefined));
  const sparks = hasRoom ? await readSparklines(server, run.id, single, width) : [];
  const lines = table(
    [
      ...titles.map((title) => ({ title, align: title === "" ? ("left" as const) : ("right" as const) })),
      ...(hasRoom ? [{ title: "" }] : []),
    ],
    cells.map((row, i) => (hasRoom ? row.concat(paint(colour, "cyan", sparks[i] ?? "")) : row)),
    { colour, columns: Infinity },
  ).split("\n");
  const left = metrics.totalCount - groups.reduce((sum, group) => sum + group.length, 0);
  const way = metrics.series.length < metrics.totalCount ? "GLOB shows those that match" : "'**' shows all";
  if (left > 0) lines.push(paint(colour, "dim", `… ${formatCount(left)} more; --metrics ${way}`));
  if (hasRoom && groups.length > SPARKLINES_MAX) {
    lines.push(paint(colour, "dim", `only the first ${SPARKLINES_MAX} have a sparkline`));
  }
  return lines;
}

function artifactLines({ artifacts, moreArtifacts, run }: ShownRun, colour: boolean): string[] {
  const lines = artifacts.slice(0, ARTIFACT_LINES_MAX).map((artifact) => {
    const step = artifact.step === undefined ? "" : ` @${artifact.step}`;
    const size = artifact.sizeBytes === undefined ? "" : `  ${formatBytes(artifact.sizeBytes)}`;
    const uri = isReference(artifact) ? `  → ${printable(artifact.uri)}` : "";
    return `${printable(artifact.name)}${paint(colour, "dim", `${step}${size}${uri}`)}`;
  });
  const left = artifacts.length - lines.length;
  if (left > 0) {
    const count = `${countOf(left, "more", "more")}${moreArtifacts ? " or more" : ""}`;
    lines.push(paint(colour, "dim", `… ${count}; \`cairn artifacts ls ${shortId(run.id)}\` lists all`));
  }
  return lines;
}

function sourceLines({ sources, sourceNames, run }: ShownRun, colour: boolean): string[] {
  const lines = sources.map(({ runId, externalId, artifact, hidden }) => {
    const through = artifact === "" ? "" : paint(colour, "cyan", `${printable(artifact)} ← `);
    if (hidden) return "hidden";
    if (runId === "") return `${through}${printable(externalId)}`;
    return `${through}${printable(sourceNames.get(runId) ?? "run")}  ${paint(colour, "dim", shortId(runId))}`;
  });
  return firstOf(lines, SOURCE_LINES_MAX, `\`cairn lineage ${shortId(run.id)}\` shows all`, colour);
}

function firstOf(lines: readonly string[], most: number, way: string, colour: boolean): string[] {
  if (lines.length <= most) return [...lines];
  return [
    ...lines.slice(0, most),
    paint(colour, "dim", `… ${countOf(lines.length - most, "more line")}; ${way}`),
  ];
}
