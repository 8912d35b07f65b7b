import type { RunColumns } from "../cells/run-columns.ts";

/**
 * Rows that a request has selected, block by block. Until `close` each belongs to the selected run, or is empty,
 * however the columns change.
 */
export class SelectedRows {
  readonly columns: RunColumns;
  readonly close: () => void;
  readonly #blocks: { readonly lo: number; readonly hi: number; readonly offsets: Uint16Array }[] = [];
  #count = 0;

  constructor(columns: RunColumns, close: () => void) {
    this.columns = columns;
    this.close = close;
  }

  /** Rows `lo + offset` for the first `count` offsets of the selection, which is copied. Blocks come in rising order. */
  add(lo: number, hi: number, selection: Uint16Array, count: number): void {
    if (count === 0) return;
    this.#blocks.push({ lo, hi, offsets: selection.slice(0, count) });
    this.#count += count;
  }

  get count(): number {
    return this.#count;
  }

  /** `place` is that of the first row of a block among all selected rows. */
  *blocks(): Generator<{ lo: number; hi: number; offsets: Uint16Array; place: number }> {
    let place = 0;
    for (const block of this.#blocks) {
      yield { ...block, place };
      place += block.offsets.length;
    }
  }

  /** The row at a place among them. */
  rowAt(place: number): number {
    let left = place;
    for (const { lo, offsets } of this.#blocks) {
      if (left < offsets.length) return lo + offsets[left]!;
      left -= offsets.length;
    }
    throw new RangeError(`there are ${this.#count} rows, not ${place + 1}`);
  }
}
