/**
 * The storage under every column: per row one code and some numbers. A run has a few of the many
 * keys there are, so a column begins sparse (rows in rising order, found by bisection) and turns
 * dense (arrays addressed by row) once enough rows have it. 12,000 metric names of one run among
 * 100,000 others then cost 12,000 small lists, not 12,000 long arrays.
 *
 * Readers never see the difference: they look at BLOCK_ROWS rows at a time, and a sparse column
 * spreads its few values over a scratch block first.
 */

/** Small enough that a selection and the parts of the columns it touches stay in the processor's cache. */
export const BLOCK_ROWS = 2048;

/** The code of a row without a value. Every other code means that there is one. */
export const EMPTY = 0;

/** Row `block start + offset` is `values[base + offset]`. Valid until the next part is asked for. */
export interface Part<A> {
  readonly values: A;
  readonly base: number;
}

/** What a filter or an order reads. Lanes count from 0. */
export interface CellReader {
  code(row: number): number;
  /** NaN where the row has none. */
  number(row: number, lane: number): number;
  /** undefined when no row from `lo` up to but not including `hi` has a value. */
  codesPart(lo: number, hi: number): Part<Uint32Array> | undefined;
  /** NaN where there is no number; undefined when there is none in the whole range. */
  numbersPart(lo: number, hi: number, lane: number): Part<Float64Array> | undefined;
}

/** How many rows the index has in use; one object shared by all its columns. */
export interface Extent {
  rows: number;
}

const DENSE_FILLED_MIN = 256;
const DENSE_ROWS_PER_VALUE_MAX = 16;
const SPARSE_ROWS_PER_VALUE_MIN = 64;
const DOUBLED_ROWS_MAX = 65_536;

const codeScratch = new Uint32Array(BLOCK_ROWS);
const numberScratch = new Float64Array(BLOCK_ROWS);

export class Cells implements CellReader {
  /** Rows that have a value. */
  filled = 0;

  readonly #extent: Extent;
  readonly #lanes: number;

  #rows: number[] = [];
  #codes: number[] = [];
  /** `lanes` numbers per entry. */
  #numbers: number[] = [];

  #denseCodes: Uint32Array | undefined;
  /** A lane that never differed from lane 0 has no array of its own. */
  #denseNumbers: (Float64Array | undefined)[] = [];

  constructor(extent: Extent, lanes: number) {
    this.#extent = extent;
    this.#lanes = lanes;
  }

  code(row: number): number {
    if (this.#denseCodes !== undefined) return this.#denseCodes[row] ?? EMPTY;
    const at = this.#lowerBound(row);
    return this.#rows[at] === row ? this.#codes[at]! : EMPTY;
  }

  number(row: number, lane: number): number {
    if (this.#denseCodes !== undefined) {
      return (this.#denseNumbers[lane] ?? this.#denseNumbers[0])?.[row] ?? Number.NaN;
    }
    const at = this.#lowerBound(row);
    return this.#rows[at] === row ? this.#numbers[at * this.#lanes + lane]! : Number.NaN;
  }

  /** One number per lane is read from `numbers`. Returns the code that was there before. */
  set(row: number, code: number, numbers: Float64Array): number {
    if (this.#denseCodes !== undefined) {
      if (row < this.#denseCodes.length || this.#grow(row)) return this.#setDense(row, code, numbers);
    }
    const before = this.#setSparse(row, code, numbers);
    if (
      before === EMPTY &&
      this.filled >= DENSE_FILLED_MIN &&
      this.filled * DENSE_ROWS_PER_VALUE_MAX > this.#extent.rows
    ) {
      this.#toDense();
    }
    return before;
  }

  /** Returns the code that was there. */
  delete(row: number): number {
    const dense = this.#denseCodes;
    if (dense === undefined) {
      const at = this.#lowerBound(row);
      if (this.#rows[at] !== row) return EMPTY;
      this.#rows.splice(at, 1);
      this.#numbers.splice(at * this.#lanes, this.#lanes);
      this.filled--;
      return this.#codes.splice(at, 1)[0]!;
    }
    const before = dense[row] ?? EMPTY;
    if (before === EMPTY) return EMPTY;
    dense[row] = EMPTY;
    for (const lane of this.#denseNumbers) if (lane !== undefined) lane[row] = Number.NaN;
    this.filled--;
    if (this.filled * SPARSE_ROWS_PER_VALUE_MIN < dense.length) this.#toSparse();
    return before;
  }

  /** Replaces every code by what `map` makes of it; EMPTY must stay EMPTY. */
  recode(map: (code: number) => number): void {
    const codes = this.#denseCodes ?? this.#codes;
    for (let at = 0; at < codes.length; at++) codes[at] = map(codes[at]!);
  }

  codesPart(lo: number, hi: number): Part<Uint32Array> | undefined {
    const dense = this.#denseCodes;
    if (dense !== undefined) {
      if (hi <= dense.length) return { values: dense, base: lo };
      if (lo >= dense.length) return undefined;
      codeScratch.fill(EMPTY);
      codeScratch.set(dense.subarray(lo));
      return { values: codeScratch, base: 0 };
    }
    const rows = this.#rows;
    let at = this.#lowerBound(lo);
    if (at === rows.length || rows[at]! >= hi) return undefined;
    codeScratch.fill(EMPTY);
    for (; at < rows.length && rows[at]! < hi; at++) codeScratch[rows[at]! - lo] = this.#codes[at]!;
    return { values: codeScratch, base: 0 };
  }

  numbersPart(lo: number, hi: number, lane: number): Part<Float64Array> | undefined {
    if (this.#denseCodes !== undefined) {
      const dense = this.#denseNumbers[lane] ?? this.#denseNumbers[0];
      if (dense === undefined || lo >= dense.length) return undefined;
      if (hi <= dense.length) return { values: dense, base: lo };
      numberScratch.fill(Number.NaN);
      numberScratch.set(dense.subarray(lo));
      return { values: numberScratch, base: 0 };
    }
    const rows = this.#rows;
    let at = this.#lowerBound(lo);
    if (at === rows.length || rows[at]! >= hi) return undefined;
    numberScratch.fill(Number.NaN);
    for (; at < rows.length && rows[at]! < hi; at++) {
      numberScratch[rows[at]! - lo] = this.#numbers[at * this.#lanes + lane]!;
    }
    return { values: numberScratch, base: 0 };
  }

  #lowerBound(row: number): number {
    const rows = this.#rows;
    if (rows.length === 0 || rows[rows.length - 1]! < row) return rows.length;
    let low = 0;
    let high = rows.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (rows[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #setSparse(row: number, code: number, numbers: Float64Array): number {
    const lanes = this.#lanes;
    const at = this.#lowerBound(row);
    let before = EMPTY;
    if (at === this.#rows.length) {
      this.#rows.push(row);
      this.#codes.push(code);
      for (let lane = 0; lane < lanes; lane++) this.#numbers.push(numbers[lane]!);
      this.filled++;
      return before;
    }
    if (this.#rows[at] === row) {
      before = this.#codes[at]!;
    } else {
      this.#rows.splice(at, 0, row);
      this.#codes.splice(at, 0, EMPTY);
      this.#numbers.splice(at * lanes, 0, ...numbers.subarray(0, lanes));
      this.filled++;
    }
    this.#codes[at] = code;
    for (let lane = 0; lane < lanes; lane++) this.#numbers[at * lanes + lane] = numbers[lane]!;
    return before;
  }

  #setDense(row: number, code: number, numbers: Float64Array): number {
    const codes = this.#denseCodes!;
    const before = codes[row]!;
    codes[row] = code;
    if (before === EMPTY) this.filled++;
    const first = numbers[0]!;
    const lane0 = this.#denseNumbers[0] ?? (Number.isNaN(first) ? undefined : this.#addLane(0));
    for (let lane = 1; lane < this.#lanes; lane++) {
      const number = numbers[lane]!;
      const own = this.#denseNumbers[lane];
      if (own !== undefined) own[row] = number;
      else if (!Object.is(number, first)) this.#addLane(lane)[row] = number;
    }
    if (lane0 !== undefined) lane0[row] = first;
    return before;
  }

  #addLane(lane: number): Float64Array {
    const lane0 = this.#denseNumbers[0];
    const added = lane0?.slice() ?? new Float64Array(this.#denseCodes!.length).fill(Number.NaN);
    this.#denseNumbers[lane] = added;
    return added;
  }

  /** False when the column has become sparse instead. */
  #grow(row: number): boolean {
    const before = this.#denseCodes!.length;
    if (this.filled * SPARSE_ROWS_PER_VALUE_MIN < row) {
      this.#toSparse();
      return false;
    }
    const length = capacity(
      Math.max(row + 1, this.#extent.rows, before * (before < DOUBLED_ROWS_MAX ? 2 : 1.5)),
    );
    const codes = new Uint32Array(length);
    codes.set(this.#denseCodes!);
    this.#denseCodes = codes;
    this.#denseNumbers = this.#denseNumbers.map((lane) => {
      if (lane === undefined) return undefined;
      const longer = new Float64Array(length);
      longer.set(lane);
      return longer.fill(Number.NaN, before);
    });
    return true;
  }

  #toDense(): void {
    const rows = this.#rows;
    const codes = this.#codes;
    const numbers = this.#numbers;
    this.#rows = [];
    this.#codes = [];
    this.#numbers = [];
    this.filled = 0;
    this.#denseCodes = new Uint32Array(capacity(this.#extent.rows));
    this.#denseNumbers = Array.from({ length: this.#lanes }, () => undefined);
    const entry = new Float64Array(this.#lanes);
    for (let at = 0; at < rows.length; at++) {
      for (let lane = 0; lane < this.#lanes; lane++) entry[lane] = numbers[at * this.#lanes + lane]!;
      this.#setDense(rows[at]!, codes[at]!, entry);
    }
  }

  #toSparse(): void {
    const codes = this.#denseCodes!;
    const lanes = this.#denseNumbers;
    this.#denseCodes = undefined;
    this.#denseNumbers = [];
    this.filled = 0;
    this.#rows = [];
    this.#codes = [];
    this.#numbers = [];
    const entry = new Float64Array(this.#lanes);
    for (let row = 0; row < codes.length; row++) {
      if (codes[row] === EMPTY) continue;
      for (let lane = 0; lane < this.#lanes; lane++)
        entry[lane] = (lanes[lane] ?? lanes[0])?.[row] ?? Number.NaN;
      this.#setSparse(row, codes[row]!, entry);
    }
  }
}

function capacity(rows: number): number {
  return Math.ceil(rows / BLOCK_ROWS) * BLOCK_ROWS;
}
