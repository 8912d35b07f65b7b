import { smooth } from "#lang/smooth.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { Axis } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { originOf, shortId, startUs } from "#sdk/run-facts.ts";
import { labelsText, numberCounts, seriesMarks, type SeriesMarks } from "#sdk/series.ts";
import { printable } from "../output/text.ts";
import type { Line } from "./line.ts";
import type { AxisKind } from "./scale.ts";

export interface Range {
  axis: AxisKind;
  /** Inclusive; steps, or microseconds. */
  from: bigint | undefined;
  to: bigint | undefined;
}

/** One series as it was read, for people (`line`) and for programs (`data`). */
export interface ReadLine {
  run: Run;
  labels: Readonly<Record<string, string>>;
  marks: SeriesMarks;
}

/** The series of one metric in some runs, every label set, on one grid. Runs without it have none. */
export async function readLines(
  server: Cairn,
  runs: readonly Run[],
  key: string,
  range: Range,
  buckets: number,
): Promise<ReadLine[]> {
  const byId = new Map(runs.map((run) => [run.id, run]));
  // Times since the start differ from run to run, so these share no grid.
  const parts = range.axis === "elapsed" ? runs.map((run) => [run]) : [runs];
  const origins = range.axis === "elapsed" ? await readOrigins(server, runs) : new Map<string, number>();
  const axis = range.axis === "step" ? Axis.STEP : Axis.TIME;
  const lines: ReadLine[] = [];
  for (const part of parts) {
    const origin = origins.get(part[0]!.id) ?? 0;
    const answer = await server.metrics.readSeries({
      series: part.map((run) => ({ run: { id: run.id }, key, allLabels: true })),
      axis,
      ...(range.from !== undefined && { from: range.from + BigInt(origin) }),
      ...(range.to !== undefined && { to: range.to + BigInt(origin) }),
      buckets,
    });
    for (const data of answer.series) {
      const run = byId.get(data.runId);
      if (run === undefined || data.texts.length > 0) continue;
      lines.push({ run, labels: data.labels, marks: seriesMarks(data, axis, answer, origin) });
    }
  }
  return lines;
}

/** Where times since the start of each run begin. */
async function readOrigins(server: Cairn, runs: readonly Run[]): Promise<Map<string, number>> {
  const answer = await server.metrics.listRunKeys({ runs: runs.map(({ id }) => ({ id })) });
  const firstTimes = new Map(answer.runs.map(({ runId, firstTimeUs }) => [runId, firstTimeUs]));
  return new Map(runs.map((run) => [run.id, originOf(startUs(run), firstTimes.get(run.id))]));
}

export interface Wording {
  /** Weight of the past, 0 to 1; undefined for none. */
  smooth: number | undefined;
  log: boolean;
}

/** Lines for a chart, each named by what distinguishes it. */
export function toLines(read: readonly ReadLine[], { smooth: weight, log }: Wording): Line[] {
  const names = namesOf(read);
  return read.map(({ marks }, i) => {
    const points = countOf(marks.pointCount, "point");
    const said = marks.exact ? `exact, ${points}` : `band of ${points}`;
    return {
      name: names[i]!,
      marks,
      form: weight === undefined ? said : `smoothed ${weight} of ${said}`,
      missing: missingOf(marks, log),
      ...(weight !== undefined && {
        smooth: smooth(marks.x, marks.mean, { kind: "ema", weight }, numberCounts(marks)),
      }),
    };
  });
}

export function nanCountOf({ nan }: SeriesMarks): number {
  return nan.reduce((sum, count) => sum + count, 0);
}

function missingOf(marks: SeriesMarks, log: boolean): string {
  const nanCount = nanCountOf(marks);
  const below = log ? marks.low.filter((value) => value <= 0).length : 0;
  return [
    nanCount > 0 ? `${formatCount(nanCount)} NaN` : "",
    marks.unplacedCount > 0 ? `${formatCount(marks.unplacedCount)} not on this axis` : "",
    below > 0 ? `${countOf(below, marks.exact ? "point" : "bucket")} at or below 0` : "",
  ]
    .filter((text) => text !== "")
    .join(", ");
}

/** The run, where there are several; its labels, where it has any; the id, where names repeat. */
function namesOf(read: readonly ReadLine[]): string[] {
  const runs = new Map(read.map(({ run }) => [run.id, run]));
  const ids = new Map<string, Set<string>>();
  for (const { name, id } of runs.values()) ids.set(name, (ids.get(name) ?? new Set()).add(id));
  return read.map(({ run, labels }) => {
    const marks = labelsText(labels);
    const id = ids.get(run.name)!.size > 1 ? ` ${shortId(run.id)}` : "";
    const words = [runs.size > 1 || marks === "" ? run.name + id : "", marks];
    return printable(words.filter((word) => word !== "").join(" "));
  });
}
