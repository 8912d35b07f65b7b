/**
 * Rows that are processed together. Measured over 1,000,000 runs: at 2048 finding the parts costs a third
 * of a search, from 8192 on nothing; larger blocks do not stay in the processor's cache.
 */
export const BLOCK_ROWS = 8192;

/** The code of a row without a value. Every other code means that there is one. */
export const EMPTY = 0;

const DENSE_FILLED_MIN = BLOCK_ROWS / 4;
const SPARSE_FILLED_MAX = BLOCK_ROWS / 16;

const NOT_SPLIT = -1;
/** Codes that are shared: a block of one higher code is rare. */
const UNIFORM_CODES = 64;

const codeScratch = new Uint32Array(BLOCK_ROWS);
const numberScratch = new Float64Array(BLOCK_ROWS);

/** The numbers of a dense block; one number where all rows that have a value have the same, NaN where none has one. */
type Lane = Float64Array | number;

/** A block as it is serialized: dense, where one number is kept for codes that are all the same, or a list of rows. */
export type PlainBlock =
  | { filled: number; codes: Uint32Array | number; source: number[]; lanes: Lane[] }
  | { filled: number; offsets: Uint16Array; codes: Uint32Array; numbers: Float64Array };

/**
 * One block of a column: per row a code and some numbers, at `offset` in the block. It is a sorted list
 * while few rows have a value, and arrays addressed by offset when many have.
 */
export class CellBlock {
  /** Rows that have a value. */
  filled = 0;
  /** Set while a snapshot reads it: changes go to a copy. */
  isFrozen = false;

  readonly #lanes: number;
  #offsets: number[] = [];
  #codes: number[] = [];
  /** `lanes` numbers per entry. */
  #numbers: number[] = [];

  /** Not always as long as the block: see `#denseLength`. */
  #denseCodes: Uint32Array | undefined;
  /** Whether the codes are of `uniformCodes`, and not its own. */
  #isUniform = false;
  /** Per lane the one whose numbers it shares: itself, or an earlier one from which it never differed. */
  #source: number[] = [];
  #denseNumbers: Lane[] = [];

  /** `dense` when it is going to be filled like the block before it. */
  constructor(lanes: number, dense: boolean) {
    this.#lanes = lanes;
    if (dense) this.#startDense(BLOCK_ROWS);
  }

  static restore(lanes: number, plain: PlainBlock): CellBlock {
    const block = new CellBlock(lanes, false);
    block.filled = plain.filled;
    if ("lanes" in plain) {
      const { codes } = plain;
      block.#denseCodes = typeof codes === "number" ? uniformCodes(codes) : codes;
      block.#isUniform = typeof codes === "number";
      block.#source = plain.source;
      block.#denseNumbers = plain.lanes;
    } else {
      block.#offsets = [...plain.offsets];
      block.#codes = [...plain.codes];
      block.#numbers = [...plain.numbers];
    }
    return block;
  }

  /** Shares its arrays with the block, where that has some. */
  plain(): PlainBlock {
    const { filled } = this;
    if (this.#denseCodes !== undefined) {
      this.#shareCodes();
      const codes = this.#isUniform ? this.#denseCodes[0]! : this.#denseCodes;
      return { filled, codes, source: this.#source, lanes: this.#denseNumbers };
    }
    return {
      filled,
      offsets: Uint16Array.from(this.#offsets),
      codes: Uint32Array.from(this.#codes),
      numbers: Float64Array.from(this.#numbers),
    };
  }

  copy(): CellBlock {
    const plain = this.plain();
    if (!("lanes" in plain)) return CellBlock.restore(this.#lanes, plain);
    const lanes = plain.lanes.map((lane) => (typeof lane === "number" ? lane : lane.slice()));
    const { filled, codes, source } = plain;
    const own = typeof codes === "number" ? codes : codes.slice();
    return CellBlock.restore(this.#lanes, { filled, codes: own, source: [...source], lanes });
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
    const dense = this.#denseCodes;
    if (dense !== undefined) {
      const own = this.#denseNumbers[this.#source[lane]!]!;
      if (typeof own !== "number") return own[offset] ?? Number.NaN;
      return (dense[offset] ?? EMPTY) === EMPTY ? Number.NaN : own;
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
    this.#ownCodes()[offset] = EMPTY;
    for (const lane of this.#denseNumbers) if (typeof lane !== "number") lane[offset] = Number.NaN;
    this.filled--;
    if (this.filled < SPARSE_FILLED_MAX) this.#toSparse();
    return before;
  }

  recode(map: (code: number) => number): void {
    const codes = this.#denseCodes === undefined ? this.#codes : this.#ownCodes();
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
      const dense = this.#denseNumbers[this.#source[lane]!]!;
      if (typeof dense === "number") return Number.isNaN(dense) ? undefined : this.#repeat(dense);
      if (dense.length >= rows) return dense;
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
    const before = this.#denseCodes![offset]!;
    if (before !== code) this.#ownCodes()[offset] = code;
    if (before === EMPTY) this.filled++;
    if (this.filled === 1 && before === EMPTY) this.#begin(numbers);
    else for (let lane = 0; lane < this.#lanes; lane++) this.#setLane(lane, offset, numbers);
    if (hasSplit) split.fill(NOT_SPLIT);
    hasSplit = false;
    return before;
  }

  /** The first row decides which lanes are alike so far. */
  #begin(numbers: Float64Array): void {
    for (let lane = 0; lane < this.#lanes; lane++) {
      let source = 0;
      while (!Object.is(numbers[source], numbers[lane])) source++;
      this.#source[lane] = source;
      this.#denseNumbers[lane] = source === lane ? numbers[lane]! : Number.NaN;
    }
  }

  #setLane(lane: number, offset: number, numbers: Float64Array): void {
    const number = numbers[lane]!;
    const source = this.#source[lane]!;
    if (source !== lane) {
      if (Object.is(number, numbers[source])) return;
      const other = findAlike(lane, source, numbers);
      if (other !== undefined) {
        this.#source[lane] = other;
        return;
      }
      const shared = this.#denseNumbers[source]!;
      this.#source[lane] = lane;
      this.#denseNumbers[lane] = typeof shared === "number" ? shared : shared.slice();
      split[lane] = source;
      hasSplit = true;
    }
    const own = this.#denseNumbers[lane]!;
    if (typeof own !== "number") own[offset] = number;
    else if (!Object.is(own, number)) {
      const numbersOf = new Float64Array(this.#denseCodes!.length).fill(Number.NaN);
      numbersOf.set(this.#repeat(own).subarray(0, numbersOf.length));
      numbersOf[offset] = number;
      this.#denseNumbers[lane] = numbersOf;
    }
  }
  /** A lane of one number as an array that is valid until the next call. */
  #repeat(number: number): Float64Array {
    const codes = this.#denseCodes!;
    numberScratch.fill(number, 0, codes.length);
    numberScratch.fill(Number.NaN, codes.length);
    if (this.filled === codes.length) return numberScratch;
    for (let offset = 0; offset < codes.length; offset++) {
      if (codes[offset] === EMPTY) numberScratch[offset] = Number.NaN;
    }
    return numberScratch;
  }

  #startDense(length: number): void {
    this.#denseCodes = new Uint32Array(length);
    this.#source = Array.from({ length: this.#lanes }, () => 0);
    this.#denseNumbers = Array.from({ length: this.#lanes }, () => Number.NaN);
  }

  #lengthen(offset: number): void {
    const before = this.#denseCodes!.length;
    const length = denseLength(offset);
    const codes = new Uint32Array(length);
    codes.set(this.#denseCodes!);
    this.#denseCodes = codes;
    this.#denseNumbers = this.#denseNumbers.map((lane) => {
      if (typeof lane === "number") return lane;
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
    const lanes = this.#source.map((source) => this.#denseNumbers[source]!);
    this.#clear();
    const entry = new Float64Array(this.#lanes);
    for (let offset = 0; offset < codes.length; offset++) {
      if (codes[offset] === EMPTY) continue;
      for (let lane = 0; lane < this.#lanes; lane++) {
        const own = lanes[lane]!;
        entry[lane] = typeof own === "number" ? own : own[offset]!;
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
    this.#isUniform = false;
    this.#source = [];
    this.#denseNumbers = [];
  }

  /** Codes that may be changed. */
  #ownCodes(): Uint32Array {
    if (this.#isUniform) this.#denseCodes = this.#denseCodes!.slice();
    this.#isUniform = false;
    return this.#denseCodes!;
  }

  /** Every run has a status, most have each metric: such blocks need no codes of their own. */
  #shareCodes(): void {
    const codes = this.#denseCodes!;
    const [code] = codes;
    if (this.#isUniform || this.filled < BLOCK_ROWS || code! >= UNIFORM_CODES) return;
    if (!codes.every((other) => other === code)) return;
    this.#denseCodes = uniformCodes(code!);
    this.#isUniform = true;
  }
}

const uniform: Uint32Array[] = [];

/** A whole block of one code, the same array for all callers. */
function uniformCodes(code: number): Uint32Array {
  return (uniform[code] ??= new Uint32Array(BLOCK_ROWS).fill(code));
}

/** Per lane the one that it was split from by the number that is being set. */
const split = new Int8Array(16).fill(NOT_SPLIT);
let hasSplit = false;

/** Another lane that was split from the same one by the same number: the two are alike. */
function findAlike(lane: number, source: number, numbers: Float64Array): number | undefined {
  if (!hasSplit) return undefined;
  for (let other = source + 1; other < lane; other++) {
    if (split[other] === source && Object.is(numbers[other], numbers[lane])) return other;
  }
  return undefined;
}

/** Powers of two: a server with 600 runs does not pay for 2048 rows of each of its keys. */
function denseLength(offset: number): number {
  return Math.min(BLOCK_ROWS, 2 ** Math.ceil(Math.log2(offset + 1)));
}
