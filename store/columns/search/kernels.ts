/**
 * The innermost loops. Each narrows a selection (offsets into a block of rows) in place, keeping its
 * order, to the rows that pass, or with `flip` 1 to those that do not, and returns how many are left.
 *
 * They have no branch in them: every offset is written and the end moves on by 0 or 1. At a pass rate
 * of one half that was measured 4 times as fast as an `if`, which the processor mispredicts.
 */

export type Flip = 0 | 1;

type Kernel<P, A, B> = (part: P, selection: Uint16Array, count: number, flip: Flip, a: A, b: B) => number;

/**
 * Calls a kernel from the one place that calls them all. V8 does not inline at a place that calls many
 * functions, which is intended here: inlined into a caller, the loop would run in that caller's slower
 * code, separately for each kind of filter, until the optimising compiler reaches it hundreds of searches
 * later. As functions of their own the kernels are optimised within the first few.
 */
export function run<P, A, B>(
  kernel: Kernel<P, A, B>,
  part: P,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  a: A,
  b: B,
): number {
  return kernel(part, selection, count, flip, a, b);
}

/** Numbers from `low` to `high`, both included. NaN is in no interval. */
export function keepInside(
  values: Float64Array,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  low: number,
  high: number,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const value = values[offset]!;
    selection[kept] = offset;
    kept += (Number(value >= low) & Number(value <= high)) ^ flip;
  }
  return kept;
}

/** Numbers below `low` or above `high`. NaN is not. */
export function keepOutside(
  values: Float64Array,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  low: number,
  high: number,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const value = values[offset]!;
    selection[kept] = offset;
    kept += (Number(value < low) | Number(value > high)) ^ flip;
  }
  return kept;
}

export function keepNumbers(
  values: Float64Array,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  wanted: ReadonlySet<number>,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    selection[kept] = offset;
    kept += Number(wanted.has(values[offset]!)) ^ flip;
  }
  return kept;
}

export function keepCode(
  codes: Uint32Array,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  code: number,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    selection[kept] = offset;
    kept += Number(codes[offset] === code) ^ flip;
  }
  return kept;
}

/** `table` has for each code whether it passes: 1 or 0. */
export function keepTable(
  codes: Uint32Array,
  selection: Uint16Array,
  count: number,
  flip: Flip,
  table: Uint8Array,
): number {
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    selection[kept] = offset;
    kept += table[codes[offset]!]! ^ flip;
  }
  return kept;
}

/** Offsets of `selection` that are not in `without`, a part of it in the same order. */
export function keepRest(
  selection: Uint16Array,
  count: number,
  without: Uint16Array,
  withoutCount: number,
): number {
  let kept = 0;
  let next = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const left = Number(next === withoutCount || without[next]! !== offset);
    selection[kept] = offset;
    kept += left;
    next += 1 - left;
  }
  return kept;
}
