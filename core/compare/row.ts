import { compareNames } from "#lang/words/names.ts";

/** One thing that a run may have. */
export interface Value {
  /** For a person. */
  readonly text: string;
  /** Equal exactly for equal values. */
  readonly identity: string;
}

/** One thing that runs may have, with what each has; the baseline first. */
export interface ComparedRow {
  readonly key: string;
  /** The distinct texts. */
  readonly texts: readonly string[];
  /** Per run: which of them, from 1 on; 0 where it has none. */
  readonly text: readonly number[];
  /** Per run: runs with the same number have equal values; 0 is that of the baseline, also when that has none. */
  readonly meaning: readonly number[];
}

export function compareRow(key: string, values: readonly (Value | undefined)[]): ComparedRow {
  const texts = new Map<string, number>();
  const meanings = new Map<string | undefined, number>();
  return {
    key,
    text: values.map((value) => (value === undefined ? 0 : numberOf(texts, value.text) + 1)),
    meaning: values.map((value) => numberOf(meanings, value?.identity)),
    texts: [...texts.keys()],
  };
}

/** The same number for equal values, in order of appearance. */
function numberOf<K>(numbers: Map<K, number>, key: K): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

/** The union of the keys, in natural order. */
export function compareMaps(maps: readonly ReadonlyMap<string, Value>[]): ComparedRow[] {
  const keys = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort(compareNames);
  return keys.map((key) =>
    compareRow(
      key,
      maps.map((map) => map.get(key)),
    ),
  );
}

export function differs({ meaning }: ComparedRow): boolean {
  return meaning.some((number) => number !== 0);
}
