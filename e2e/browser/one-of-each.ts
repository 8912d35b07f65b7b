import { isLong, seed } from "../../tools/dose.ts";

/** Everything in the long run; for a dose one of each kind, where the seed and `turn` decide which. */
export function oneOfEach<T>(kinds: readonly (readonly T[])[], turn = 0): T[] {
  if (isLong) return kinds.flat();
  return kinds.map((kind, i) => kind[(i + seed + turn) % kind.length]!);
}
