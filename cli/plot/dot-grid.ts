/**
 * Dots in the cells of a terminal. A braille character has 2 × 4 dots, so a chart of 80 × 20 cells has 160 × 80
 * of them; where there is no braille, a cell is one dot. Each cell keeps which line drew most of it, for its colour.
 */
export interface CellShape {
  readonly across: number;
  readonly down: number;
}
export const BRAILLE: CellShape = { across: 2, down: 4 };
export const WHOLE_CELL: CellShape = { across: 1, down: 1 };

/** Bits of a braille character by row and column within the cell. */
const BITS: readonly (readonly number[])[] = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/** The cell is empty. */
const NOBODY = -1;

export interface Cell {
  /** Bits of a braille character; 0 for an empty cell. */
  bits: number;
  owner: number;
  /** Only faint dots are here: a band, or the line behind a smoothed one. */
  faint: boolean;
}

export class DotGrid {
  readonly columns: number;
  readonly rows: number;
  readonly shape: CellShape;
  readonly #bits: Uint8Array;
  readonly #owners: Int16Array;
  readonly #faint: Uint8Array;
  /** By how many dots the owner of a cell leads. */
  readonly #votes: Int32Array;

  constructor(columns: number, rows: number, shape: CellShape = BRAILLE) {
    this.columns = columns;
    this.rows = rows;
    this.shape = shape;
    this.#bits = new Uint8Array(columns * rows);
    this.#owners = new Int16Array(columns * rows).fill(NOBODY);
    this.#faint = new Uint8Array(columns * rows).fill(1);
    this.#votes = new Int32Array(columns * rows);
  }

  /** Dots across and down. */
  get width(): number {
    return this.columns * this.shape.across;
  }
  get height(): number {
    return this.rows * this.shape.down;
  }

  /** The dot a place (0 to 1 from left to right, from bottom to top) falls on. */
  dotX(place: number): number {
    return Math.min(this.width - 1, Math.floor(place * this.width));
  }
  dotY(place: number): number {
    return this.height - 1 - Math.min(this.height - 1, Math.floor(place * this.height));
  }

  /** A faint dot gives way to lines: it is never in a cell with one. */
  set(x: number, y: number, owner: number, faint = false): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const { across, down } = this.shape;
    const at = Math.floor(y / down) * this.columns + Math.floor(x / across);
    const bit = BITS[y % down]![x % across]!;
    if (faint) {
      if (this.#faint[at] === 0) return;
      this.#owners[at] = owner;
    } else if (this.#faint[at] === 1) {
      this.#faint[at] = 0;
      this.#bits[at] = 0;
      this.#votes[at] = 1;
      this.#owners[at] = owner;
    } else this.#vote(at, owner);
    this.#bits[at]! |= bit;
  }

  /** A cell has the colour of the line with most of its dots; among equals, of the last one. */
  #vote(at: number, owner: number): void {
    if (this.#owners[at] === owner) this.#votes[at]!++;
    else if (--this.#votes[at]! <= 0) {
      this.#owners[at] = owner;
      this.#votes[at] = 1;
    }
  }

  has(x: number, y: number): boolean {
    const { across, down } = this.shape;
    const at = Math.floor(y / down) * this.columns + Math.floor(x / across);
    return (this.#bits[at]! & BITS[y % down]![x % across]!) !== 0;
  }

  cell(column: number, row: number): Cell {
    const at = row * this.columns + column;
    return { bits: this.#bits[at]!, owner: this.#owners[at]!, faint: this.#faint[at] === 1 };
  }

  /** A straight line; both ends belong to it. */
  line(x0: number, y0: number, x1: number, y1: number, owner: number, faint = false): void {
    const length = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
    for (let i = 0; i <= length; i++) {
      const share = length === 0 ? 0 : i / length;
      this.set(Math.round(x0 + (x1 - x0) * share), Math.round(y0 + (y1 - y0) * share), owner, faint);
    }
  }

  /** A transparent column of dots: every fourth of the area. */
  sparseColumn(x: number, y0: number, y1: number, owner: number): void {
    for (let y = Math.min(y0, y1); y <= Math.max(y0, y1); y++) {
      if ((x + 2 * y) % 4 === 0 || this.shape === WHOLE_CELL) this.set(x, y, owner, true);
    }
  }
}
