import { compareValues } from "#lang/query/compare.ts";
import type { Literal } from "#lang/query/ast.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { BLOCK_ROWS, type CellReader, EMPTY } from "../cells/cells.ts";
import { FIRST_TEXT, NUMBER, TRUE, type ValueColumn } from "../cells/value-column.ts";

/** One sort key. */
export interface SortKey {
  readonly descending: boolean;
  value(row: number): Literal | undefined;
  /** Where the values are: numbers only, or of any type. Only other keys are read value by value. */
  readonly numbers: { readonly cells: CellReader; readonly lane: number } | undefined;
  readonly column: ValueColumn | undefined;
}

/** The sort values of a row, one per key; undefined for missing. It outlives the row. */
export type Place = readonly (Literal | undefined)[];

/** Two counts of at most BLOCK_ROWS in one number, so that a kernel can return them. */
const PAIR = 2 * BLOCK_ROWS;

/** The sort values of rows under one key, as numbers: by class first, then by number. */
export interface Lane {
  readonly classes: Uint8Array;
  readonly numbers: Float64Array;
}

/** Classes of present values are 0 to 2, by type. */
const NAN_CLASS = 3;
const MISSING_CLASS = 4;

/** A total order of rows: the last key differs for any two rows. */
export class Ordering {
  readonly #keys: readonly SortKey[];
  readonly #tied: readonly Uint16Array[];

  constructor(keys: readonly SortKey[]) {
    this.#keys = keys;
    this.#tied = keys.map(() => new Uint16Array(BLOCK_ROWS));
  }

  get keyCount(): number {
    return this.#keys.length;
  }

  /** Entry i is of row `rows[i]`. */
  lane(at: number, rows: Uint32Array, count: number): Lane {
    return laneOf(this.#keys[at]!, rows.subarray(0, count));
  }

  place(row: number): Place {
    return this.#keys.map((key) => key.value(row));
  }

  compare(a: Place, b: Place): number {
    for (let at = 0; at < this.#keys.length; at++) {
      const order = compareKeys(a[at], b[at], this.#keys[at]!.descending);
      if (order !== 0) return order;
    }
    return 0;
  }

  /**
   * Narrows a selection as a Filter does to the rows strictly before the place (side -1) or strictly
   * after it (side 1). Does not keep their order.
   */
  keepBeyond(
    place: Place,
    side: -1 | 1,
    lo: number,
    hi: number,
    selection: Uint16Array,
    count: number,
  ): number {
    return this.#keepBeyond(0, place, side, lo, hi, selection, count);
  }

  #keepBeyond(
    at: number,
    place: Place,
    side: -1 | 1,
    lo: number,
    hi: number,
    selection: Uint16Array,
    count: number,
  ): number {
    const key = this.#keys[at];
    if (key === undefined || count === 0) return 0;
    const tied = this.#tied[at]!;
    const pair = split(key, place[at], side, lo, hi, selection, count, tied);
    const beyond = pair % PAIR;
    const more = this.#keepBeyond(at + 1, place, side, lo, hi, tied, (pair - beyond) / PAIR);
    for (let next = 0; next < more; next++) selection[beyond + next] = tied[next]!;
    return beyond + more;
  }
}

/** As lang/query's compareRuns: NaN after every other value and missing after NaN, in either direction. */
function compareKeys(a: Literal | undefined, b: Literal | undefined, descending: boolean): number {
  if (typeof a === "number" && typeof b === "number") {
    if (a < b) return descending ? 1 : -1;
    if (a > b) return descending ? -1 : 1;
    if (a === b) return 0;
  }
  const lag = lateness(a) - lateness(b);
  if (lag !== 0 || a === undefined || b === undefined || Number.isNaN(a)) return lag;
  return descending ? compareValues(b, a) : compareValues(a, b);
}

function lateness(value: Literal | undefined): 0 | 1 | 2 {
  if (value === undefined) return 2;
  return Number.isNaN(value) ? 1 : 0;
}

/**
 * Leaves in `selection` the rows beyond `bound` and puts those equal to it into `tied`; returns
 * beyond + PAIR * tied.
 */
function split(
  key: SortKey,
  bound: Literal | undefined,
  side: -1 | 1,
  lo: number,
  hi: number,
  selection: Uint16Array,
  count: number,
  tied: Uint16Array,
): number {
  const late = lateness(bound);
  if (key.numbers === undefined || typeof bound === "string" || typeof bound === "boolean") {
    if (key.column !== undefined && typeof bound === "string") {
      return splitTexts(key.column, bound, key.descending, side, lo, hi, selection, count, tied);
    }
    return splitValues(key, bound, side, lo, selection, count, tied);
  }
  const { cells, lane } = key.numbers;
  const numbers = cells.numbersPart(lo, hi, lane);
  if (numbers !== undefined && late === 0) {
    const scale = key.descending ? -1 : 1;
    const splitNumbers = side < 0 ? splitBefore : splitAfter;
    return splitNumbers(numbers, selection, count, scale, Number(bound) * scale, tied);
  }
  const codes = cells.codesPart(lo, hi);
  let kept = 0;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const number = numbers === undefined ? Number.NaN : numbers[offset]!;
    const empty = codes === undefined || codes[offset] === EMPTY;
    const lag = ((empty ? 2 : Number(Number.isNaN(number))) - late) * side;
    tied[ties] = offset;
    ties += Number(lag === 0);
    selection[kept] = offset;
    kept += Number(lag > 0);
  }
  return kept + PAIR * ties;
}

function splitBefore(
  values: Float64Array,
  selection: Uint16Array,
  count: number,
  scale: number,
  bound: number,
  tied: Uint16Array,
): number {
  let kept = 0;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const value = values[offset]! * scale;
    tied[ties] = offset;
    ties += Number(value === bound);
    selection[kept] = offset;
    kept += Number(value < bound);
  }
  return kept + PAIR * ties;
}

/** NaN and missing, which reads as NaN, come after every number. */
function splitAfter(
  values: Float64Array,
  selection: Uint16Array,
  count: number,
  scale: number,
  bound: number,
  tied: Uint16Array,
): number {
  let kept = 0;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const value = values[offset]! * scale;
    tied[ties] = offset;
    ties += Number(value === bound);
    selection[kept] = offset;
    kept += 1 - Number(value <= bound);
  }
  return kept + PAIR * ties;
}

function splitTexts(
  column: ValueColumn,
  bound: string,
  descending: boolean,
  side: -1 | 1,
  lo: number,
  hi: number,
  selection: Uint16Array,
  count: number,
  tied: Uint16Array,
): number {
  const codes = column.cells.codesPart(lo, hi);
  const ranks = column.order.ranks();
  const boundRank = column.order.rankOf(bound);
  const direction = descending ? -side : side;
  let kept = 0;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const code = codes === undefined ? EMPTY : codes[offset]!;
    let order: number;
    if (code >= FIRST_TEXT) order = (ranks[code]! - boundRank) * direction;
    else order = compareKeys(column.value(lo + offset), bound, descending) * side;
    if (order > 0) selection[kept++] = offset;
    else if (order === 0) tied[ties++] = offset;
  }
  return kept + PAIR * ties;
}

function splitValues(
  key: SortKey,
  bound: Literal | undefined,
  side: -1 | 1,
  lo: number,
  selection: Uint16Array,
  count: number,
  tied: Uint16Array,
): number {
  let kept = 0;
  let ties = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    const order = compareKeys(key.value(lo + offset), bound, key.descending) * side;
    if (order > 0) selection[kept++] = offset;
    else if (order === 0) tied[ties++] = offset;
  }
  return kept + PAIR * ties;
}

function laneOf({ descending, value, numbers: source, column }: SortKey, rows: Uint32Array): Lane {
  const classes = new Uint8Array(rows.length);
  const numbers = new Float64Array(rows.length);
  const scale = descending ? -1 : 1;
  const classOf = (typeRank: 0 | 1 | 2) => (descending ? 2 - typeRank : typeRank);
  const put = (at: number, of: number, number: number) => {
    classes[at] = of;
    numbers[at] = number * scale;
  };
  const putNumber = (at: number, number: number) =>
    Number.isNaN(number) ? put(at, NAN_CLASS, 0) : put(at, classOf(0), number);
  if (column !== undefined) {
    const { cells } = column;
    const ranks = column.onlyNumbers ? undefined : column.order.ranks();
    for (let at = 0; at < rows.length; at++) {
      const code = cells.code(rows[at]!);
      if (code === EMPTY) put(at, MISSING_CLASS, 0);
      else if (code === NUMBER) putNumber(at, cells.number(rows[at]!, 0));
      else if (code < FIRST_TEXT) put(at, classOf(2), Number(code === TRUE));
      else put(at, classOf(1), ranks![code]!);
    }
  } else if (source !== undefined) {
    const { cells, lane } = source;
    for (let at = 0; at < rows.length; at++) {
      if (cells.code(rows[at]!) === EMPTY) put(at, MISSING_CLASS, 0);
      else putNumber(at, cells.number(rows[at]!, lane));
    }
  } else {
    // Only aliases are not in a column; few runs have any.
    const texts = Array.from(rows, (row) => value(row));
    const sorted = [...new Set(texts)].filter((text) => typeof text === "string").sort(compareCodePoints);
    const ranks = new Map(sorted.map((text, rank) => [text, rank]));
    for (const [at, text] of texts.entries()) {
      const rank = typeof text === "string" ? ranks.get(text) : undefined;
      if (rank === undefined) put(at, MISSING_CLASS, 0);
      else put(at, classOf(1), rank);
    }
  }
  return { classes, numbers };
}
