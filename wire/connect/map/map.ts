import { CairnError } from "#lang/errors.ts";

/** A message's map as core keeps maps; keys such as "__proto__" are safe there. */
export function toMap<V>(entries: Readonly<Record<string, V>>): Map<string, V> {
  return new Map(Object.entries(entries));
}

/** The other way. Without a prototype, so that no key is special. */
export function fromMap<V>(map: ReadonlyMap<string, V>): Record<string, V> {
  const entries = Object.create(null) as Record<string, V>;
  for (const [key, value] of map) entries[key] = value;
  return entries;
}

export function toInteger(value: bigint, what: string): number {
  const number = Number(value);
  if (Math.abs(number) <= 2 ** 53 && BigInt(number) === value) return number;
  throw new CairnError("invalid", `cannot accept ${what} "${value}": it must be at most 2^53 in magnitude`, {
    reason: "UNSAFE_INTEGER",
  });
}
