import type { Literal } from "#lang/query/ast.ts";
import { matches } from "#lang/query/evaluate.ts";
import { conditionOf, literalOf } from "./brush-condition.ts";
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
  const { kind, values, categories } = column;
  const condition = conditionOf(column, brush);
  const fits = (value: Literal | undefined) =>
    matches(condition, { values: () => (value === undefined ? [] : [value]) });
  const fitsNone = fits(undefined);
  const ofCategories = categories.map(
    ({ key, isAskable }) => (isAskable ? fits(literalOf(key)) : brush.of?.includes(key)) === true,
  );
  for (let i = 0; i < mask.length; i++) {
    const value = values[i]!;
    const isFit = Number.isNaN(value) ? fitsNone : kind === "number" ? fits(value) : ofCategories[value]!;
    if (!isFit) mask[i] = 0;
  }
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
