import { BLOCK_ROWS } from "../cells/cells.ts";
import type { Term } from "./filter.ts";

const ALL_OFFSETS = Uint16Array.from({ length: BLOCK_ROWS }, (_, offset) => offset);

/** Puts the offsets of the rows from `lo` to before `hi` that pass into the selection. Returns how many. */
export function selectBlock({ filter, flip }: Term, lo: number, hi: number, selection: Uint16Array): number {
  selection.set(ALL_OFFSETS);
  return filter.keep(lo, hi, selection, hi - lo, flip);
}

/**
 * Where the blocks begin, the last one first, then in leaps: rows are mostly in the order they were
 * created, and following the sort order would make each block better than all before it.
 */
export function* blocks(rows: number): Generator<number> {
  const count = Math.ceil(rows / BLOCK_ROWS);
  let leap = Math.max(1, Math.floor(count * 0.618));
  while (greatestCommonDivisor(leap, count) > 1) leap--;
  for (let step = 1; step <= count; step++) {
    yield ((count - 1 + step * leap + count - leap) % count) * BLOCK_ROWS;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
