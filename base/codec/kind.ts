import { CodecError } from "./error.ts";
import type { Points, Values } from "./points.ts";

export type Kind = Values["kind"];

/** A kind is stored as its place in this list. */
export const kinds: readonly Kind[] = ["number", "integer", "bool", "text"];

export const NANOS_MAX = 999;

/** `code` has two bits, so there is always one. */
export function kindOf(code: number): Kind {
  return kinds[code]!;
}

/** Throws CodecError unless every column there is has `count` entries. Does not look into steps and times. */
export function checkColumns(points: Points): void {
  const { count, steps, times, nanos, values } = points;
  if (
    values.data.length !== count ||
    (steps !== undefined && steps.length !== count) ||
    (times !== undefined && times.length !== count) ||
    (nanos !== undefined && nanos.length !== count)
  ) {
    throw new CodecError(`cannot encode points: not all columns have ${count} entries`);
  }
  if (nanos === undefined) return;
  for (const nano of nanos) {
    if (nano > NANOS_MAX) throw new CodecError(`cannot encode points: "${nano}" is not a nanosecond`);
  }
}
