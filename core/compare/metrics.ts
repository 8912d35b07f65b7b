import { seriesName } from "#lang/metric-key.ts";
import { bestStat, isBetter } from "../objective/better.ts";
import type { MetricMeaning } from "../objective/metric-keys.ts";
import type { Direction } from "../types/namespace.ts";
import type { Labels, SeriesInfo } from "../types/series.ts";

export const COMPARED_STATS = ["best", "last", "first", "min", "max", "mean"] as const;
export type ComparedStat = (typeof COMPARED_STATS)[number];

/** One series of all runs, the baseline first. */
export interface ComparedMetric {
  readonly key: string;
  readonly labels: Labels;
  /** The statistic of each series. */
  readonly stat: Exclude<ComparedStat, "best">;
  readonly unit: string;
  /** undefined where no direction is known. */
  readonly direction: Direction | undefined;
  readonly isObjective: boolean;
  readonly differs: boolean;
  readonly values: readonly (ComparedValue | undefined)[];
}

export interface ComparedValue {
  readonly value: number;
  /** undefined for a mean, and where points have none. */
  readonly step: number | undefined;
  /** None of the others is better. Only where runs differ and a direction is known. */
  readonly best: boolean;
  /** Against the baseline; undefined for itself, and where either is not a finite number. */
  readonly delta: Delta | undefined;
}

export interface Delta {
  readonly difference: number;
  /** Of the size of the baseline's value; undefined where that is 0. */
  readonly share: number | undefined;
  /** undefined where no direction is known. */
  readonly verdict: "same" | "better" | "worse" | undefined;
}

const UNDESCRIBED = { direction: undefined, unit: "" };

/** Numbers of all runs side by side. Texts are ignored. */
export function compareMetrics(
  series: readonly (readonly SeriesInfo[])[],
  { described, objective }: MetricMeaning,
  stats: readonly ComparedStat[],
): ComparedMetric[] {
  const byRun = series.map((list) => new Map(list.filter(isNumeric).map((info) => [nameOf(info), info])));
  const all = new Map(byRun.flatMap((map) => [...map]));
  return [...all].flatMap(([name, { key, labels }]) => {
    const isObjective = key === objective?.metric;
    const { direction, unit } = described.get(key) ?? UNDESCRIBED;
    const chosen = new Set(stats.map((stat) => statFor(stat, direction)));
    return Array.from(chosen, (stat) => {
      const values = byRun.map((map) => sampleOf(map.get(name), stat));
      return { key, labels, stat, unit, direction, isObjective, ...compareValues(values, direction) };
    });
  });
}

function nameOf({ key, labels }: SeriesInfo): string {
  return seriesName(key, labels);
}

function isNumeric({ kind }: SeriesInfo): boolean {
  return kind !== "text";
}

function statFor(stat: ComparedStat, direction: Direction | undefined): ComparedMetric["stat"] {
  if (stat !== "best") return stat;
  return direction === undefined ? "last" : bestStat(direction);
}

type Reached = Pick<ComparedValue, "value" | "step">;

function sampleOf(info: SeriesInfo | undefined, stat: ComparedMetric["stat"]): Reached | undefined {
  if (info === undefined) return undefined;
  const { summary } = info;
  if (stat === "mean") {
    const numbers = summary.count - summary.nanCount;
    return numbers === 0 ? undefined : { value: summary.sum / numbers, step: undefined };
  }
  const sample = summary[stat];
  return (
    sample && {
      value: sample.integer === undefined ? sample.value : Number(sample.integer),
      step: sample.step,
    }
  );
}

function compareValues(
  values: readonly (Reached | undefined)[],
  direction: Direction | undefined,
): Pick<ComparedMetric, "values" | "differs"> {
  const base = values[0]?.value;
  const differs = values.some((reached) => !Object.is(reached?.value, base));
  const best = differs && direction !== undefined ? bestOf(values, direction) : undefined;
  return {
    differs,
    values: values.map((reached, i) => {
      if (reached === undefined) return undefined;
      const delta = i === 0 || base === undefined ? undefined : deltaOf(base, reached.value, direction);
      return { ...reached, best: reached.value === best, delta };
    }),
  };
}

function bestOf(values: readonly (Reached | undefined)[], direction: Direction): number | undefined {
  let best: number | undefined;
  for (const reached of values) {
    if (reached === undefined || Number.isNaN(reached.value)) continue;
    if (best === undefined || isBetter(reached.value, best, direction)) best = reached.value;
  }
  return best;
}

export function deltaOf(base: number, value: number, direction: Direction | undefined): Delta | undefined {
  const difference = value - base;
  if (!Number.isFinite(difference)) return undefined;
  return {
    difference,
    share: base === 0 ? undefined : difference / Math.abs(base),
    verdict: verdictOf(base, value, direction),
  };
}

function verdictOf(base: number, value: number, direction: Direction | undefined): Delta["verdict"] {
  if (direction === undefined) return undefined;
  if (value === base) return "same";
  return isBetter(value, base, direction) ? "better" : "worse";
}
