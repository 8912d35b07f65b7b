import { Axis, Encoding, Form, type Column, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import { pointMarks, smoothed, type Extent, type Line, type Marks } from "./line.ts";
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
  form: "exact" | "band";
  pointCount: number;
  nanCount: number;
  marks: Marks;
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
  const lines: ReadLine[] = [];
  for (const part of parts) {
    const startUs = range.axis === "elapsed" ? startOf(part[0]!) : 0n;
    const answer = await server.metrics.readSeries({
      series: part.map((run) => ({ run: { id: run.id }, key, allLabels: true })),
      axis: range.axis === "step" ? Axis.STEP : Axis.TIME,
      ...(range.from !== undefined && { from: range.from + startUs }),
      ...(range.to !== undefined && { to: range.to + startUs }),
      buckets,
      encoding: Encoding.NUMBERS,
    });
    for (const data of answer.series) {
      const run = byId.get(data.runId);
      if (run === undefined || data.texts.length > 0) continue;
      const marks = shifted(
        seriesMarks(data, range.axis, answer.gridStart, answer.gridWidth),
        Number(startUs),
      );
      lines.push({
        run,
        labels: data.labels,
        form: data.form === Form.BAND ? "band" : "exact",
        pointCount: Number(data.pointCount),
        nanCount: nanCountOf(data),
        marks,
      });
    }
  }
  return lines;
}

function startOf(run: Run): bigint {
  return run.startedUs === 0n ? run.createdUs : run.startedUs;
}

/** The marks of one series of an answer in numbers. */
export function seriesMarks(data: SeriesData, axis: AxisKind, gridStart: number, gridWidth: number): Marks {
  if (data.form === Form.BAND) {
    return {
      ...spanOf(numbers(data.bucket), gridStart, gridWidth),
      x: numbers(data.bucket).map((bucket) => bucketCentre(bucket, gridStart, gridWidth)),
      low: numbers(data.min),
      high: numbers(data.max),
      first: numbers(data.first),
      last: numbers(data.last),
      mean: numbers(data.mean),
      count: numbers(data.count),
    };
  }
  const places = numbers(axis === "step" ? data.steps : data.timesUs);
  const values = numbers(data.values);
  // Points that this axis cannot show come last and are left out; `Line.missing` says how many.
  const placed = places.findIndex((place) => Number.isNaN(place));
  const length = placed < 0 ? places.length : placed;
  return pointMarks(places.slice(0, length), values.slice(0, length));
}

/** A bucket of whole steps holds gridWidth of them, the first at its beginning. */
export function bucketCentre(bucket: number, gridStart: number, gridWidth: number): number {
  return gridStart + bucket * gridWidth + Math.max(0, gridWidth - 1) / 2;
}

/** Nothing where there is no bucket. */
export function spanOf(buckets: readonly number[], gridStart: number, gridWidth: number): { span?: Extent } {
  if (buckets.length === 0) return {};
  const last = gridStart + (buckets.at(-1)! + 1) * gridWidth - Math.min(1, gridWidth);
  return { span: { min: gridStart + buckets[0]! * gridWidth, max: last } };
}

function shifted(marks: Marks, by: number): Marks {
  if (by === 0) return marks;
  const { x, span } = marks;
  const there = { ...marks, x: x.map((place) => place - by) };
  return span === undefined ? there : { ...there, span: { min: span.min - by, max: span.max - by } };
}

function nanCountOf(data: SeriesData): number {
  if (data.form === Form.BAND) return numbers(data.nanCount).reduce((sum, count) => sum + count, 0);
  return numbers(data.values).filter((value) => Number.isNaN(value)).length;
}

/** Doubles, or the 64-bit integers of an integer series. */
export function numbers(column: Column | undefined): number[] {
  if (column === undefined) return [];
  return column.integers.length > 0 ? column.integers.map(Number) : column.numbers;
}

export interface Wording {
  /** Weight of the past, 0 to 1; undefined for none. */
  smooth: number | undefined;
  log: boolean;
}

/** Lines for a chart, each named by what distinguishes it. */
export function toLines(read: readonly ReadLine[], { smooth, log }: Wording): Line[] {
  const names = namesOf(read);
  return read.map((each, i) => {
    const { marks, form, pointCount } = each;
    const said =
      form === "exact" ? `exact, ${countOf(pointCount, "point")}` : `band of ${countOf(pointCount, "point")}`;
    return {
      name: names[i]!,
      marks,
      form: smooth === undefined ? said : `smoothed ${smooth} of ${said}`,
      missing: missingOf(each, log),
      ...(smooth !== undefined && { smooth: smoothed(marks, smooth) }),
    };
  });
}

function missingOf({ marks, form, pointCount, nanCount }: ReadLine, log: boolean): string {
  const drawn = marks.count.reduce((sum, count) => sum + count, 0);
  const unplaced = form === "exact" ? pointCount - drawn : 0;
  const below = log ? marks.low.filter((value) => value <= 0).length : 0;
  return [
    nanCount > 0 ? `${formatCount(nanCount)} NaN` : "",
    unplaced > 0 ? `${formatCount(unplaced)} not on this axis` : "",
    below > 0 ? `${countOf(below, form === "exact" ? "point" : "bucket")} at or below 0` : "",
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
    const marks = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const id = ids.get(run.name)!.size > 1 ? ` ${run.id.slice(0, 12)}` : "";
    const words = [runs.size > 1 || marks.length === 0 ? run.name + id : "", ...marks];
    return printable(words.filter((word) => word !== "").join(" "));
  });
}
