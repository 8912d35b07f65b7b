/**
 * The storage under every column: per row one code and some numbers. A run has a few of the many keys
 * there are, so a column is a set of blocks of BLOCK_ROWS rows, of which only those exist that hold a
 * value, and a block is a list or an array, whichever is smaller. 12,000 metric names of one run among
 * 100,000 others then cost 12,000 short lists, not 12,000 long arrays; and a column grows without
 * ever being copied.
 */
import { BLOCK_ROWS, CellBlock, EMPTY, type PlainBlock } from "./cell-block.ts";

export { BLOCK_ROWS, EMPTY };

/** What a filter or an order reads. Parts are of the block that begins at row `lo`, as long as `hi - lo` or longer. */
export interface CellReader {
  code(row: number): number;
  /** NaN where the row has none. Lanes count from 0. */
  number(row: number, lane: number): number;
  /** undefined when no row of the block has a value. Valid until the next part is read. */
  codesPart(lo: number, hi: number): Uint32Array | undefined;
  /** NaN where there is no number; undefined when there is none in the whole block. */
  numbersPart(lo: number, hi: number, lane: number): Float64Array | undefined;
}

const OFFSET_BITS = Math.log2(BLOCK_ROWS);
const OFFSET_MASK = BLOCK_ROWS - 1;

export type FrozenBlocks = readonly (readonly [number: number, block: CellBlock])[];

export class Cells implements CellReader {
  /** Rows that have a value. */
  filled = 0;

  readonly #lanes: number;
  readonly #blocks = new Map<number, CellBlock>();
  /** The block that was used last: rows mostly come in order. */
  #block: CellBlock | undefined;
  #blockNumber = -1;

  constructor(lanes: number) {
    this.#lanes = lanes;
  }

  code(row: number): number {
    return this.#find(row >>> OFFSET_BITS)?.code(row & OFFSET_MASK) ?? EMPTY;
  }

  number(row: number, lane: number): number {
    return this.#find(row >>> OFFSET_BITS)?.number(row & OFFSET_MASK, lane) ?? Number.NaN;
  }

  /** One number per lane is read from `numbers`. Returns the code that was there before. */
  set(row: number, code: number, numbers: Float64Array): number {
    const number = row >>> OFFSET_BITS;
    const block = this.#findOwn(number) ?? this.#add(number);
    const before = block.set(row & OFFSET_MASK, code, numbers);
    if (before === EMPTY) this.filled++;
    return before;
  }

  /** Returns the code that was there. */
  delete(row: number): number {
    // Mostly there is none, and a frozen block must not be copied for it.
    if (this.code(row) === EMPTY) return EMPTY;
    const number = row >>> OFFSET_BITS;
    const block = this.#findOwn(number);
    const before = block?.delete(row & OFFSET_MASK) ?? EMPTY;
    if (before !== EMPTY) this.filled--;
    if (block?.filled === 0) {
      this.#blocks.delete(number);
      this.#block = undefined;
    }
    return before;
  }

  /** Maps every code with `map`; EMPTY must stay EMPTY. */
  recode(map: (code: number) => number): void {
    for (const number of this.#blocks.keys()) this.#findOwn(number)!.recode(map);
  }

  codesPart(lo: number, hi: number): Uint32Array | undefined {
    return this.#find(lo >>> OFFSET_BITS)?.codes(hi - lo);
  }

  numbersPart(lo: number, hi: number, lane: number): Float64Array | undefined {
    return this.#find(lo >>> OFFSET_BITS)?.numbers(hi - lo, lane);
  }

  /** The current blocks, which are frozen. */
  freeze(): FrozenBlocks {
    for (const block of this.#blocks.values()) block.isFrozen = true;
    return [...this.#blocks];
  }

  restore(blocks: readonly (readonly [number: number, block: PlainBlock])[]): void {
    for (const [number, plain] of blocks) {
      this.#blocks.set(number, CellBlock.restore(this.#lanes, plain));
      this.filled += plain.filled;
    }
  }

  /** One that may be changed. */
  #findOwn(number: number): CellBlock | undefined {
    const block = this.#find(number);
    if (block?.isFrozen !== true) return block;
    const copy = block.copy();
    this.#blocks.set(number, copy);
    this.#block = copy;
    return copy;
  }

  #find(number: number): CellBlock | undefined {
    if (number !== this.#blockNumber) {
      this.#blockNumber = number;
      this.#block = this.#blocks.get(number);
    }
    return this.#block;
  }

  #add(number: number): CellBlock {
    const block = new CellBlock(this.#lanes, this.#blocks.get(number - 1)?.isDense ?? false);
    this.#blocks.set(number, block);
    this.#block = block;
    return block;
  }
}
