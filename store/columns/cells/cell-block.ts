/**
 * Rows that are looked at together. Measured over 1,000,000 runs: at 2048 finding the parts costs a third
 * of a search, from 8192 on nothing; beyond, they no longer stay in the processor's cache.
 */
export const BLOCK_ROWS = 8192;

/** The code of a row without a value. Every other code means that there is one. */
export const EMPTY = 0;

const DENSE_FILLED_MIN = BLOCK_ROWS / 4;
const SPARSE_FILLED_MAX = BLOCK_ROWS / 16;

const codeScratch = new Uint32Array(BLOCK_ROWS);
const numberScratch = new Float64Array(BLOCK_ROWS);

/**
 * One block of a column: per row a code and some numbers, at `offset` in the block. It is a sorted list
 * while few rows have a value, and arrays addressed by offset when many have.
 */
export class CellBlock {
  /** Rows that have a value. */
  filled = 0;

  readonly #lanes: number;
  #offsets: number[] = [];
  #codes: number[] = [];
  /** `lanes` numbers per entry. */
  #numbers: number[] = [];

  /** Not always as long as the block: see `#denseLength`. */
  #denseCodes: Uint32Array | undefined;
  /** A lane that never differed from lane 0 has no array of its own. */
  #denseNumbers: (Float64Array | undefined)[] = [];

  /** `dense` when it is going to be filled like the block before it. */
  constructor(lanes: number, dense: boolean) {
    this.#lanes = lanes;
    if (dense) this.#startDense(BLOCK_ROWS);
  }

  get isDense(): boolean {
    return this.#denseCodes !== undefined;
  }

  code(offset: number): number {
    if (this.#denseCodes !== undefined) return this.#denseCodes[offset] ?? EMPTY;
    const at = this.#lowerBound(offset);
    return this.#offsets[at] === offset ? this.#codes[at]! : EMPTY;
  }

  number(offset: number, lane: number): number {
    if (this.#denseCodes !== undefined) {
      return (this.#denseNumbers[lane] ?? this.#denseNumbers[0])?.[offset] ?? Number.NaN;
    }
    const at = this.#lowerBound(offset);
    return this.#offsets[at] === offset ? this.#numbers[at * this.#lanes + lane]! : Number.NaN;
  }

  /** Reads one number per lane from `numbers`. Returns the code that was there before. */
  set(offset: number, code: number, numbers: Float64Array): number {
    if (this.#denseCodes === undefined) {
      const before = this.#setSparse(offset, code, numbers);
      if (this.filled > DENSE_FILLED_MIN) this.#toDense();
      return before;
    }
    if (offset >= this.#denseCodes.length) this.#lengthen(offset);
    return this.#setDense(offset, code, numbers);
  }

  /** Returns the code that was there. */
  delete(offset: number): number {
    const dense = this.#denseCodes;
    if (dense === undefined) {
      const at = this.#lowerBound(offset);
      if (this.#offsets[at] !== offset) return EMPTY;
      this.#offsets.splice(at, 1);
      this.#numbers.splice(at * this.#lanes, this.#lanes);
      this.filled--;
      return this.#codes.splice(at, 1)[0]!;
    }
    const before = dense[offset] ?? EMPTY;
    if (before === EMPTY) return EMPTY;
    dense[offset] = EMPTY;
    for (const lane of this.#denseNumbers) if (lane !== undefined) lane[offset] = Number.NaN;
    this.filled--;
    if (this.filled < SPARSE_FILLED_MAX) this.#toSparse();
    return before;
  }

  recode(map: (code: number) => number): void {
    const codes = this.#denseCodes ?? this.#codes;
    for (let at = 0; at < codes.length; at++) codes[at] = map(codes[at]!);
  }

  /** The codes of the first `rows` rows or more. Valid until the next call on any block. */
  codes(rows: number): Uint32Array {
    const dense = this.#denseCodes;
    if (dense !== undefined && dense.length >= rows) return dense;
    codeScratch.fill(EMPTY);
    if (dense !== undefined) codeScratch.set(dense);
    else {
      const offsets = this.#offsets;
      for (let at = 0; at < offsets.length; at++) codeScratch[offsets[at]!] = this.#codes[at]!;
    }
    return codeScratch;
  }

  /** As `codes`; NaN where there is no number, undefined when there is none at all. */
  numbers(rows: number, lane: number): Float64Array | undefined {
    const offsets = this.#offsets;
    if (this.#denseCodes !== undefined) {
      const dense = this.#denseNumbers[lane] ?? this.#denseNumbers[0];
      if (dense === undefined || dense.length >= rows) return dense;
      numberScratch.fill(Number.NaN);
      numberScratch.set(dense);
      return numberScratch;
    }
    numberScratch.fill(Number.NaN);
    for (let at = 0; at < offsets.length; at++) {
      numberScratch[offsets[at]!] = this.#numbers[at * this.#lanes + lane]!;
    }
    return numberScratch;
  }

  #lowerBound(offset: number): number {
    const offsets = this.#offsets;
    let high = offsets.length;
    if (high === 0 || offsets[high - 1]! < offset) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (offsets[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #setSparse(offset: number, code: number, numbers: Float64Array): number {
    const lanes = this.#lanes;
    const at = this.#lowerBound(offset);
    if (at === this.#offsets.length) {
      this.#offsets.push(offset);
      this.#codes.push(code);
      for (let lane = 0; lane < lanes; lane++) this.#numbers.push(numbers[lane]!);
      this.filled++;
      return EMPTY;
    }
    let before = EMPTY;
    if (this.#offsets[at] === offset) before = this.#codes[at]!;
    else {
      this.#offsets.splice(at, 0, offset);
      this.#codes.splice(at, 0, EMPTY);
      this.#numbers.splice(at * lanes, 0, ...numbers.subarray(0, lanes));
      this.filled++;
    }
    this.#codes[at] = code;
    for (let lane = 0; lane < lanes; lane++) this.#numbers[at * lanes + lane] = numbers[lane]!;
    return before;
  }

  #setDense(offset: number, code: number, numbers: Float64Array): number {
    const codes = this.#denseCodes!;
    const lanes = this.#denseNumbers;
    const before = codes[offset]!;
    codes[offset] = code;
    if (before === EMPTY) this.filled++;
    const first = numbers[0]!;
    const lane0 = lanes[0] ?? (Number.isNaN(first) ? undefined : this.#addLane(0));
    for (let lane = 1; lane < this.#lanes; lane++) {
      const number = numbers[lane]!;
      const own = lanes[lane];
      if (own !== undefined) own[offset] = number;
      else if (!Object.is(number, first)) this.#addLane(lane)[offset] = number;
    }
    if (lane0 !== undefined) lane0[offset] = first;
    return before;
  }

  #addLane(lane: number): Float64Array {
    const added =
      this.#denseNumbers[0]?.slice() ?? new Float64Array(this.#denseCodes!.length).fill(Number.NaN);
    this.#denseNumbers[lane] = added;
    return added;
  }

  #startDense(length: number): void {
    this.#denseCodes = new Uint32Array(length);
    this.#denseNumbers = Array.from({ length: this.#lanes }, () => undefined);
  }

  #lengthen(offset: number): void {
    const before = this.#denseCodes!.length;
    const length = denseLength(offset);
    const codes = new Uint32Array(length);
    codes.set(this.#denseCodes!);
    this.#denseCodes = codes;
    this.#denseNumbers = this.#denseNumbers.map((lane) => {
      if (lane === undefined) return undefined;
      const longer = new Float64Array(length);
      longer.set(lane);
      return longer.fill(Number.NaN, before);
    });
  }

  #toDense(): void {
    const offsets = this.#offsets;
    const codes = this.#codes;
    const numbers = this.#numbers;
    this.#clear();
    this.#startDense(denseLength(offsets.at(-1)!));
    const entry = new Float64Array(this.#lanes);
    for (let at = 0; at < offsets.length; at++) {
      for (let lane = 0; lane < this.#lanes; lane++) entry[lane] = numbers[at * this.#lanes + lane]!;
      this.#setDense(offsets[at]!, codes[at]!, entry);
    }
  }

  #toSparse(): void {
    const codes = this.#denseCodes!;
    const lanes = this.#denseNumbers;
    this.#clear();
    const entry = new Float64Array(this.#lanes);
    for (let offset = 0; offset < codes.length; offset++) {
      if (codes[offset] === EMPTY) continue;
      for (let lane = 0; lane < this.#lanes; lane++) {
        entry[lane] = (lanes[lane] ?? lanes[0])?.[offset] ?? Number.NaN;
      }
      this.#setSparse(offset, codes[offset]!, entry);
    }
  }

  #clear(): void {
    this.filled = 0;
    this.#offsets = [];
    this.#codes = [];
    this.#numbers = [];
    this.#denseCodes = undefined;
    this.#denseNumbers = [];
  }
}

/** Powers of two: a server with 600 runs does not pay for 2048 rows of each of its keys. */
function denseLength(offset: number): number {
  return Math.min(BLOCK_ROWS, 2 ** Math.ceil(Math.log2(offset + 1)));
}
