import type { Tags } from "#core/types/run.ts";

export function tagsToText(tags: Tags): string {
  return JSON.stringify([...tags]);
}

export function tagsFromText(text: string): [key: string, value: string][] {
  return JSON.parse(text) as [string, string][];
}

/** Tags or params after a change. Those to remove go first; with `onlyIfAbsent` existing ones stay as they are. */
export function merge(
  known: ReadonlyMap<string, string>,
  added: ReadonlyMap<string, string> | undefined,
  removed: readonly string[] | undefined,
  onlyIfAbsent = false,
): ReadonlyMap<string, string> {
  if (added === undefined && removed === undefined) return known;
  const merged = new Map(known);
  for (const key of removed ?? []) merged.delete(key);
  for (const [key, value] of added ?? []) {
    if (!onlyIfAbsent || !merged.has(key)) merged.set(key, value);
  }
  return merged;
}
