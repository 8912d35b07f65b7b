import { BLOCK_ROWS, type CellReader } from "./cells.ts";

const scratch = new Float64Array(BLOCK_ROWS);

/** Seconds from start to end, or until now; missing where there is no start. Computed block by block. */
export class Duration implements CellReader {
  readonly #started: CellReader;
  readonly #ended: CellReader;
  readonly #nowUs: number;

  constructor(started: CellReader, ended: CellReader, nowUs: number) {
    this.#started = started;
    this.#ended = ended;
    this.#nowUs = nowUs;
  }

  code(row: number): number {
    return this.#started.code(row);
  }

  number(row: number): number {
    return this.#seconds(this.#started.number(row, 0), this.#ended.number(row, 0));
  }

  codesPart(lo: number, hi: number): Uint32Array | undefined {
    return this.#started.codesPart(lo, hi);
  }

  numbersPart(lo: number, hi: number): Float64Array | undefined {
    // Copied first, because the next part may overwrite this one.
    const ended = this.#ended.numbersPart(lo, hi, 0);
    if (ended === undefined) scratch.fill(Number.NaN);
    else scratch.set(ended.subarray(0, hi - lo));
    const started = this.#started.numbersPart(lo, hi, 0);
    if (started === undefined) return undefined;
    for (let offset = 0; offset < hi - lo; offset++) {
      scratch[offset] = this.#seconds(started[offset]!, scratch[offset]!);
    }
    return scratch;
  }

  #seconds(startedUs: number, endedUs: number): number {
    return ((Number.isNaN(endedUs) ? this.#nowUs : endedUs) - startedUs) / 1e6;
  }
}
