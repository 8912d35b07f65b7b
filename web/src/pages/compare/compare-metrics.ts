import { SeriesKind, type KeyDescription, type Sample, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { Direction, type Objective } from "#proto/cairn/v1/namespace_pb.ts";
import { byName } from "./compare-row.ts";
import type { MetricStat } from "./metric-stat.ts";

export interface MetricRow {
  /** With its labels. */
  name: string;
  unit: string;
  direction: Direction;
  isObjective: boolean;
  /** What was taken of each series. */
  stat: Exclude<MetricStat, "best">;
  cells: (MetricCell | undefined)[];
  differs: boolean;
}

export interface MetricCell {
  value: number;
  /** Absent for a mean, and where points have none. */
  step?: number;
  /** None of the others is better. Only where runs differ and it is known what is better. */
  best: boolean;
  /** Against the baseline; undefined for itself, and where either is no number. */
  delta?: Delta;
}

export interface Delta {
  difference: number;
  /** Of the size of the baseline's value; undefined where that is 0. */
  share: number | undefined;
  verdict: "better" | "worse" | "neutral";
}

export interface MetricMeaning {
  keys: readonly KeyDescription[];
  objective: Objective | undefined;
}

/** Numbers of all runs side by side: the objective first, what the machine did last. */
export function compareMetrics(
  series: readonly (readonly SeriesInfo[])[],
  { keys, objective }: MetricMeaning,
  stat: MetricStat,
): MetricRow[] {
  const known = new Map(keys.map((description) => [description.key, description]));
  const byRun = series.map((list) => new Map(list.filter(isNumeric).map((info) => [seriesName(info), info])));
  const keyOf = new Map(byRun.flatMap((map) => [...map].map(([name, { key }]) => [name, key] as const)));
  const rows = [...keyOf].map(([name, key]) => {
    const isObjective = key === objective?.metric;
    const direction =
      (isObjective ? objective?.direction : known.get(key)?.direction) ?? Direction.UNSPECIFIED;
    const chosen = statFor(stat, direction);
    const cells = byRun.map((map) => cellOf(map.get(name), chosen));
    const unit = known.get(key)?.unit ?? "";
    const { cells: figures, differs } = withDeltas(cells, direction);
    return { name, unit, direction, isObjective, stat: chosen, cells: figures, differs };
  });
  return rows.sort((a, b) => rank(a) - rank(b) || byName(a.name, b.name));
}

function seriesName({ key, labels }: SeriesInfo): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return pairs.length === 0 ? key : `${key}{${pairs.sort(byName).join(", ")}}`;
}

function isNumeric({ kind }: SeriesInfo): boolean {
  return kind === SeriesKind.NUMBER || kind === SeriesKind.INTEGER || kind === SeriesKind.BOOL;
}

function rank({ isObjective, name }: MetricRow): number {
  return isObjective ? 0 : /^(?:system|sys)[/.]/.test(name) ? 2 : 1;
}

function statFor(stat: MetricStat, direction: Direction): MetricRow["stat"] {
  if (stat !== "best") return stat;
  if (direction === Direction.MINIMIZE) return "min";
  return direction === Direction.MAXIMIZE ? "max" : "last";
}

function cellOf(
  info: SeriesInfo | undefined,
  stat: MetricRow["stat"],
): Pick<MetricCell, "value" | "step"> | undefined {
  if (info?.summary === undefined) return undefined;
  if (stat === "mean") return info.summary.mean === undefined ? undefined : { value: info.summary.mean };
  const sample = info.summary[stat];
  if (sample === undefined) return undefined;
  const step = sample.step === undefined ? {} : { step: Number(sample.step) };
  return { value: numberOf(sample, info.kind), ...step };
}

function numberOf(sample: Sample, kind: SeriesKind): number {
  return kind === SeriesKind.INTEGER ? Number(sample.integer) : sample.value;
}

function withDeltas(
  cells: readonly (Pick<MetricCell, "value" | "step"> | undefined)[],
  direction: Direction,
): Pick<MetricRow, "cells" | "differs"> {
  const base = cells[0]?.value;
  const differs = cells.some((cell) => !Object.is(cell?.value, base));
  const numbers = cells.flatMap((cell) =>
    cell === undefined || Number.isNaN(cell.value) ? [] : [cell.value],
  );
  const best =
    !differs || direction === Direction.UNSPECIFIED
      ? undefined
      : numbers.reduce((a, b) => (isBetter(b, a, direction) ? b : a), numbers[0] ?? NaN);
  return {
    differs,
    cells: cells.map((cell, i) => {
      if (cell === undefined) return undefined;
      const delta = i === 0 || base === undefined ? undefined : deltaOf(base, cell.value, direction);
      return { ...cell, best: cell.value === best, ...(delta && { delta }) };
    }),
  };
}

function isBetter(a: number, b: number, direction: Direction): boolean {
  return direction === Direction.MINIMIZE ? a < b : a > b;
}

export function deltaOf(base: number, value: number, direction: Direction): Delta | undefined {
  const difference = value - base;
  if (!Number.isFinite(difference)) return undefined;
  const verdict =
    direction === Direction.UNSPECIFIED || difference === 0
      ? "neutral"
      : isBetter(value, base, direction)
        ? "better"
        : "worse";
  return { difference, share: base === 0 ? undefined : difference / Math.abs(base), verdict };
}
