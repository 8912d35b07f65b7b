/** A window of at most `max` rows around one of them, and how many are left out on either side. */
export function rowsAround<T>(
  all: readonly T[],
  index: number,
  max: number,
): { rows: readonly T[]; before: number; after: number } {
  if (all.length <= max) return { rows: all, before: 0, after: 0 };
  const begin = index < 0 ? 0 : Math.min(Math.max(0, index - Math.floor(max / 2)), all.length - max);
  return { rows: all.slice(begin, begin + max), before: begin, after: all.length - begin - max };
}
