import type { ComparedRow } from "#proto/cairn/v1/explore_pb.ts";
import { differs } from "#sdk/comparison.ts";

/** All are equal, but written in different ways, such as 1 and 1.0. */
export function isRespelt(row: ComparedRow): boolean {
  return !differs(row) && row.texts.length > 1;
}

/** The most values that get different colours. */
const COLOURS_MAX = 10;

/**
 * Whether colours help to see which runs share a value: not with two runs, and not where every run has a different one,
 * such as a seed.
 */
export function isColoured({ meaning }: ComparedRow): boolean {
  const count = new Set(meaning).size;
  return count > 1 && count < meaning.length && count <= COLOURS_MAX;
}
