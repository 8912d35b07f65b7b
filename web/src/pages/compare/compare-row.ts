import type { Value } from "./param-leaves.ts";

/** One thing that runs may have, with what each has. */
export interface CompareRow {
  key: string;
  /** One per run, the baseline first; undefined where a run has none. */
  values: (Value | undefined)[];
  /** Runs of the same number have the same; 0 is what the baseline has, also when that is nothing. */
  classes: number[];
  classCount: number;
  /** All mean the same, but it is written in different ways, such as 1 and 1.0. */
  respelt: boolean;
}

export function compareValues(key: string, values: (Value | undefined)[]): CompareRow {
  const numbers = new Map<string | undefined, number>();
  const classes = values.map((value) => {
    const number = numbers.get(value?.identity) ?? numbers.size;
    numbers.set(value?.identity, number);
    return number;
  });
  const respelt = numbers.size === 1 && values.some((value) => value?.text !== values[0]?.text);
  return { key, values, classes, classCount: numbers.size, respelt };
}

/** The union of the keys, by name, digits as numbers. */
export function compareMaps(maps: readonly ReadonlyMap<string, Value>[]): CompareRow[] {
  const keys = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort(byName);
  return keys.map((key) =>
    compareValues(
      key,
      maps.map((map) => map.get(key)),
    ),
  );
}

export function differs({ classCount }: CompareRow): boolean {
  return classCount > 1;
}

const { compare } = new Intl.Collator("en", { numeric: true });

export function byName(a: string, b: string): number {
  return compare(a, b) || (a < b ? -1 : Number(a > b));
}

/** The most that are told apart by colour. */
const COLOURS_MAX = 10;

/**
 * Whether colours help to see which runs share a value: not with two runs, where it is plain, and not where every run has its own, as with a seed.
 */
export function isColoured({ classes, classCount }: CompareRow): boolean {
  return classCount > 1 && classCount < classes.length && classCount <= COLOURS_MAX;
}
