import type { Literal } from "#lang/query/ast.ts";

/** More values than this say nothing new about how much a param varies. */
const COUNTED_VALUES = 64;
/** Texts with more values than these are names rather than choices. */
const CHOICES_MAX = 20;
const SEED = /(?:^|[._/-])(?:random_)?seed$/i;

export interface ValueCounts {
  /** How many runs have each value: the first ones that were seen, at least COUNTED_VALUES where there are so many. */
  readonly values: ReadonlyMap<Literal, number>;
  /** Runs that have any value. */
  readonly runs: number;
}

/** It has several values, or some of the runs lack it. */
export function varies({ values, runs }: ValueCounts, allRuns: number): boolean {
  return values.size > 1 || runs < allRuns;
}

/**
 * How informative a param is: the entropy of its values, times the share of runs that have it. 0 for seeds and
 * for texts that are names of single runs rather than choices.
 */
export function varietyOf(key: string, counts: ValueCounts, allRuns: number): number {
  const { values, runs } = counts;
  if (!varies(counts, allRuns) || SEED.test(key)) return 0;
  if (values.size > CHOICES_MAX && values.keys().some((value) => typeof value === "string")) return 0;
  if (values.size >= COUNTED_VALUES) return Math.log(COUNTED_VALUES) * (runs / allRuns);
  let entropy = 0;
  for (const count of values.values()) entropy -= (count / allRuns) * Math.log(count / allRuns);
  return entropy * (runs / allRuns);
}
