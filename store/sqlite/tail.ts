import { ByteReader } from "#base/codec/byte-reader.ts";
import { readBlock, skipBlock } from "#base/codec/block.ts";
import type { Points } from "#core/model/series.ts";

/** A row of the ingest log. Block i of the body belongs to series `series[i]`. */
export interface LogRow {
  pos: number;
  run: number;
  writer: number;
  seq: number;
  digest: number;
  series: Uint32Array;
  body: Uint8Array;
}

/** Points of one series in one log row. */
export interface TailBlock {
  pos: number;
  writer: number;
  points: Points;
}

interface BlockRef {
  row: LogRow;
  offset: number;
}

/**
 * The end of the ingest log that is not yet in chunks, held in memory. Rows are looked into only
 * when someone asks for a series, so that writing costs nothing here.
 */
export class Tail {
  #rows: LogRow[] = [];
  #refs = new Map<number, BlockRef[]>();
  /** How many of #rows have been entered into #refs. */
  #indexed = 0;
  #lastPos = 0;

  get rows(): readonly LogRow[] {
    return this.#rows;
  }

  /** The highest position ever given out, also by a tail that has been dropped since. */
  get lastPos(): number {
    return this.#lastPos;
  }

  set lastPos(pos: number) {
    this.#lastPos = pos;
  }

  push(row: LogRow): void {
    this.#rows.push(row);
    this.#lastPos = row.pos;
  }

  /** Blocks of a series in rows after `afterPos`, in order of arrival. */
  *blocks(series: number, afterPos: number): Generator<TailBlock> {
    this.#index();
    for (const { row, offset } of this.#refs.get(series) ?? []) {
      if (row.pos <= afterPos) continue;
      yield { pos: row.pos, writer: row.writer, points: readBlock(new ByteReader(row.body, offset)) };
    }
  }

  /** Enters up to `rowsMax` more rows into the index. Returns whether rows up to `pos` are left. */
  indexSome(pos: number, rowsMax: number): boolean {
    this.#index(rowsMax);
    const next = this.#rows[this.#indexed];
    return next !== undefined && next.pos <= pos;
  }

  /** Every series with a block in the rows up to `pos`. */
  seriesThrough(pos: number): number[] {
    this.#index();
    const found: number[] = [];
    for (const [series, refs] of this.#refs) if (refs[0]!.row.pos <= pos) found.push(series);
    return found;
  }

  dropThrough(pos: number): void {
    this.#keep((row) => row.pos > pos);
  }

  dropRun(run: number): void {
    this.#keep((row) => row.run !== run);
  }

  clear(): void {
    this.#rows = [];
    this.#refs = new Map();
    this.#indexed = 0;
  }

  #keep(wanted: (row: LogRow) => boolean): void {
    const kept = this.#rows.filter(wanted);
    if (kept.length === this.#rows.length) return;
    this.clear();
    this.#rows = kept;
  }

  #index(rowsMax = Infinity): void {
    const end = Math.min(this.#rows.length, this.#indexed + rowsMax);
    for (; this.#indexed < end; this.#indexed++) {
      const row = this.#rows[this.#indexed]!;
      const reader = new ByteReader(row.body);
      for (const series of row.series) {
        const ref = { row, offset: reader.position };
        const refs = this.#refs.get(series);
        if (refs === undefined) this.#refs.set(series, [ref]);
        else refs.push(ref);
        skipBlock(reader);
      }
    }
  }
}
