import { lowerBound } from "./lower-bound.ts";

/** Ranks from 1 on; equal values share the mean of theirs. There is no NaN among them. */
export function ranksOf(values: Float64Array): Float64Array {
  // Sorting plain numbers is many times faster than sorting indexes by their numbers; each rank is then looked up.
  const sorted = values.toSorted();
  const ranks = new Float64Array(sorted.length);
  for (let from = 0; from < sorted.length;) {
    let to = from + 1;
    while (to < sorted.length && sorted[to] === sorted[from]) to++;
    ranks.fill((from + 1 + to) / 2, from, to);
    from = to;
  }
  return values.map((value) => ranks[lowerBound(sorted, value)]!);
}

/** Groups of about the same size by rising rank; equal values are in one group. */
export function quantileGroups(ranks: Float64Array, countMax: number): Uint8Array {
  return Uint8Array.from(ranks, (rank) =>
    Math.min(countMax - 1, Math.floor(((rank - 0.5) / ranks.length) * countMax)),
  );
}
