import { splitList } from "#lang/query/field-text.ts";
import { quoteList } from "#lang/query/quote.ts";
import { betterWords } from "#lang/words/directions.ts";
import { Picture, type KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { bestStat } from "#sdk/direction.ts";
import { listKeys } from "#sdk/pages.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import { dotColumns, renderChart, type Chart, type ChartSize } from "./chart.ts";
import type { Line } from "./line.ts";
import { chooseRuns, type Chosen, type PlotOptions } from "./plot-request.ts";
import { groupLines, readGroups, type Grouping } from "./read-groups.ts";
import { nanCountOf, readLines, toLines, type Range, type ReadLine } from "./read-lines.ts";
import { chartStyle, hasUnicode, type ChartStyle } from "./style.ts";

const HEIGHT = 16;
/** Where several charts share a screen. */
const HEIGHT_OF_MANY = 10;
const WIDTH_MIN = 30;
const WIDTH_MAX = 240;
const LINES_MAX = 100;
const BUCKETS_MAX = 2_000;

interface Drawing {
  server: Cairn;
  chosen: Chosen;
  options: PlotOptions;
  range: Range;
  buckets: number;
}

export async function plot(
  cli: Cli,
  words: readonly string[],
  options: PlotOptions,
  range: Range,
): Promise<void> {
  if (options.groupBy !== undefined && range.axis === "elapsed") {
    throw new CommandError("cannot group by time since the start: the points of a group share one axis", {
      exitCode: EXIT.usage,
      hint: "use --x step",
    });
  }
  const server = await cli.connect();
  const chosen = await chooseRuns(server, words, options);
  const style = chartStyle({
    unicode: options.ascii !== true && hasUnicode(cli.env),
    colour: cli.colour,
    ...(cli.colourDepth !== undefined && { colourDepth: cli.colourDepth }),
  });
  const size: ChartSize = {
    columns: Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, options.width ?? cli.columns)),
    rows: Math.max(3, options.height ?? (chosen.keys.length > 1 ? HEIGHT_OF_MANY : HEIGHT)),
  };
  const buckets = Math.min(BUCKETS_MAX, 2 * dotColumns(size, style));
  const drawing = { server, chosen, options, range, buckets };
  if (chosen.isKeysCut) {
    cli.note("the runs have more series than are looked at for a glob: name the metrics that are missing");
  }
  const described = await describedKeys(server, chosen);
  if (cli.options.json === true) await printJson(cli, drawing);
  else await printCharts(cli, drawing, described, size, style);
}

async function printCharts(
  cli: Cli,
  drawing: Drawing,
  described: ReadonlyMap<string, KeyDescription>,
  size: ChartSize,
  style: ChartStyle,
): Promise<void> {
  const { chosen, options, range } = drawing;
  for (const [i, key] of chosen.keys.entries()) {
    const lines = await linesOf(drawing, key);
    if (i > 0) cli.print("");
    const chart: Chart = {
      title: titleOf(chosen, lines, key),
      remark: remarkOf(described.get(key), options),
      lines,
      axis: range.axis,
      log: options.log === true,
      ...(described.get(key)?.picture === Picture.ACCURACY && { atLeast: { min: 0, max: 1 } }),
    };
    cli.print(renderChart(chart, size, style).join("\n"));
  }
  const left = chosen.matching - chosen.runs.length;
  if (left > 0 && options.groupBy === undefined) {
    cli.note(`${countOf(left, "more run")} match; --limit shows more, --group-by shows all as groups`);
  }
}

async function linesOf(drawing: Drawing, key: string): Promise<Line[]> {
  const { server, chosen, options, range, buckets } = drawing;
  if (options.groupBy !== undefined) {
    return groupLines(await readGroups(server, groupingOf(drawing), key, range, buckets), options.band);
  }
  const read = await readLines(server, chosen.runs, key, range, buckets);
  if (read.length > LINES_MAX) {
    throw new CommandError(`cannot draw ${read.length} lines in one chart: at most ${LINES_MAX}`, {
      exitCode: EXIT.usage,
      hint: "name fewer runs, or make groups of them with --group-by",
    });
  }
  return toLines(read, { smooth: options.smooth, log: options.log === true });
}

function groupingOf({ chosen, options }: Drawing): Grouping {
  const named = `id in ${quoteList(chosen.runs.map(({ id }) => id))}`;
  return {
    query: chosen.named ? named : (options.query ?? ""),
    namespace: options.namespace ?? "",
    groupBy: splitList(options.groupBy!),
  };
}

/** What the namespace of the first run says about its metrics. */
async function describedKeys(server: Cairn, { runs }: Chosen): Promise<Map<string, KeyDescription>> {
  const keys = await listKeys(server, runs[0]!.namespace);
  return new Map(keys.map((description) => [description.key, description]));
}

/** The legend names runs where there are several; a single one is named here. */
function titleOf({ runs, named }: Chosen, lines: readonly Line[], key: string): string {
  const single = named && runs.length === 1 && lines[0]?.name !== printable(runs[0]!.name);
  return printable(single ? `${key} of ${runs[0]!.name}` : key);
}

function remarkOf(description: KeyDescription | undefined, { log, smooth }: PlotOptions): string {
  const parts = [
    printable(description?.unit ?? ""),
    betterWords(bestStat(description?.direction)),
    log ? "log scale" : "",
    smooth === undefined ? "" : "smoothed",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

async function printJson(cli: Cli, drawing: Drawing): Promise<void> {
  const { server, chosen, options, range, buckets } = drawing;
  const charts: unknown[] = [];
  for (const key of chosen.keys) {
    if (options.groupBy !== undefined) {
      charts.push({
        key,
        axis: range.axis,
        groups: await readGroups(server, groupingOf(drawing), key, range, buckets),
      });
      continue;
    }
    const read = await readLines(server, chosen.runs, key, range, buckets);
    const series = read.map(jsonLine);
    charts.push({ key, axis: range.axis, series });
  }
  cli.printJson({ charts, ...(chosen.isKeysCut && { moreMetrics: true }) });
}

function jsonLine({ run, labels, marks }: ReadLine): object {
  const { x, count, low: min, high: max, first, last, mean, exact, pointCount } = marks;
  const columns = exact ? { x, values: mean } : { x, count, min, max, first, last, mean };
  return {
    runId: run.id,
    run: run.name,
    namespace: run.namespace,
    labels,
    form: exact ? "exact" : "band",
    pointCount,
    nanCount: nanCountOf(marks),
    ...columns,
  };
}
