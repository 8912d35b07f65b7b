import type { ExploredColumn } from "./explored-column.ts";

/** The filter of one property: a range of numbers, some values, or also runs without a value. */
export interface Brush {
  /** Both ends are inclusive; without one the range is open there. */
  readonly from?: number;
  readonly to?: number;
  /** Keys of categories. */
  readonly of?: readonly string[];
  readonly none?: true;
}

/** By field. A run remains when every brush selects it. */
export type Brushes = Readonly<Record<string, Brush>>;

export function isEmptyBrush({ from, to, of, none }: Brush): boolean {
  return from === undefined && to === undefined && of === undefined && none === undefined;
}

/** The brushes with one of them changed; an empty or undefined one goes. */
export function withBrush(brushes: Brushes, text: string, brush: Brush | undefined): Brushes {
  const { [text]: _, ...others } = brushes;
  return brush === undefined || isEmptyBrush(brush) ? others : { ...others, [text]: brush };
}

/** Which runs remain: 1 for each that does. */
export function maskOf(
  runCount: number,
  columnOf: (text: string) => ExploredColumn | undefined,
  brushes: Brushes,
): Uint8Array {
  const mask = new Uint8Array(runCount).fill(1);
  for (const [text, brush] of Object.entries(brushes)) {
    const column = columnOf(text);
    if (column !== undefined) narrow(mask, column, brush);
  }
  return mask;
}

export function countOf(mask: Uint8Array): number {
  let count = 0;
  for (const bit of mask) count += bit;
  return count;
}

function narrow(mask: Uint8Array, column: ExploredColumn, brush: Brush): void {
  const { values } = column;
  const fits = fitsOf(column, brush);
  for (let i = 0; i < mask.length; i++) {
    const value = values[i]!;
    if (mask[i] === 1 && !(value !== value ? brush.none === true : fits(value))) mask[i] = 0;
  }
}

function fitsOf(column: ExploredColumn, brush: Brush): (value: number) => boolean {
  const { from, to, of } = brush;
  const isRange = from !== undefined || to !== undefined;
  const low = from ?? -Infinity;
  const high = to ?? Infinity;
  if (column.kind === "number") {
    const numbers = of === undefined ? undefined : new Set(of.map(Number));
    return (value) => (isRange && value >= low && value <= high) || numbers?.has(value) === true;
  }
  const keys = new Set(of);
  // A range selects numbers only, as in the query language.
  const fit = column.categories.map(
    ({ key }) => keys.has(key) || (isRange && /^-?\d/.test(key) && Number(key) >= low && Number(key) <= high),
  );
  return (place) => fit[place]!;
}

const DIGITS_MIN = 2;
const DIGITS_MAX = 17;

/**
 * The range of a brush that was drawn by hand, in short numbers that select the same runs. An end at or outside all
 * values is left open, unless both would be.
 */
export function neatRange(values: Float64Array, drawnFrom: number, drawnTo: number): Brush {
  let below = -Infinity;
  let first = Infinity;
  let last = -Infinity;
  let above = Infinity;
  for (const value of values) {
    if (value < drawnFrom) below = Math.max(below, value);
    else if (value > drawnTo) above = Math.min(above, value);
    else if (value === value) {
      first = Math.min(first, value);
      last = Math.max(last, value);
    }
  }
  const isNothing = first > last;
  if (isNothing) return { from: drawnFrom, to: drawnTo };
  if (below === -Infinity && above === Infinity) return { from: first, to: last };
  return {
    ...(below > -Infinity && { from: shortest(drawnFrom, (v) => v > below && v <= first, first) }),
    ...(above < Infinity && { to: shortest(drawnTo, (v) => v >= last && v < above, last) }),
  };
}

function shortest(near: number, fits: (value: number) => boolean, otherwise: number): number {
  for (let digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
    const value = Number(near.toPrecision(digits));
    if (fits(value)) return value;
  }
  return otherwise;
}
