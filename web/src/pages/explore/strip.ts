/** Undefined for none. */
export function medianOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  // Halves first: the sum of two large numbers may overflow.
  return sorted.length % 2 === 1 ? sorted[middle] : sorted[middle - 1]! / 2 + sorted[middle]! / 2;
}
