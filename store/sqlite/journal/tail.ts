import { ByteReader } from "#base/codec/byte-reader.ts";
import { NumberColumns, readBlock, skipBlock } from "#base/codec/block.ts";
import type { Points } from "#core/types/series.ts";

/** A row of the ingest log. Block i of the body belongs to series `series[i]`. */
export interface LogRow {
  pos: number;
  run: number;
  writer: number;
  seq: number;
  digest: number;
  series: Uint32Array;
  body: Uint8Array;
  /** What failed its checksum. A row with a damaged head has no series, and neither has a body. */
  damage: "head" | "body" | undefined;
}

/** Points of one series that one writer logged one after another. */
export interface TailPiece {
  writer: number;
  points: Points;
}

/**
 * The end of the ingest log that is not yet in chunks, held in memory. Rows are indexed only
 * when a series is read, so that writing costs nothing here. The index is a chain of blocks
 * per series in plain number arrays: an object per block would keep the garbage collector busy.
 */
export class Tail {
  #rows: LogRow[] = [];
  #damaged: LogRow[] = [];
  #lastPos = 0;
  /** How many of #rows have been entered into the chains. */
  #indexed = 0;
  /** First and last block of each series' chain. */
  readonly #first = new Map<number, number>();
  readonly #last = new Map<number, number>();
  /** By block: its row, where it begins there, and the next one of its series (0 for none). */
  #row = new Uint32Array(BLOCKS_MIN);
  #offset = new Uint32Array(BLOCKS_MIN);
  #next = new Uint32Array(BLOCKS_MIN);
  /** Block 0 is never used, so that 0 can mean none. */
  #blocks = 1;
  readonly #joined = new NumberColumns();

  /** Without the damaged ones. */
  get rows(): readonly LogRow[] {
    return this.#rows;
  }

  get damaged(): readonly LogRow[] {
    return this.#damaged;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0 && this.#damaged.length === 0;
  }

  /** Damaged rows that held, or may have held, points of the series that are in no chunk. */
  damageOf(series: { id: number; run: number; foldedPos: number }): LogRow[] {
    return this.#damaged.filter(
      (row) =>
        row.pos > series.foldedPos &&
        (row.damage === "head" ? row.run === series.run : row.series.includes(series.id)),
    );
  }

  /** The highest position ever used, also by a tail that has been dropped since. */
  get lastPos(): number {
    return this.#lastPos;
  }

  set lastPos(pos: number) {
    this.#lastPos = pos;
  }

  push(row: LogRow): void {
    (row.damage === undefined ? this.#rows : this.#damaged).push(row);
    this.#lastPos = Math.max(this.#lastPos, row.pos);
  }

  /**
   * Points of a series in rows after `afterPos`, in order of arrival; a new piece begins where the
   * writer or the set of columns changes. The arrays belong to the caller.
   */
  pieces(series: number, afterPos: number): TailPiece[] {
    this.#index();
    const found: TailPiece[] = [];
    const joined = this.#joined;
    joined.clear();
    let writer = 0;
    const finish = () => {
      if (joined.count > 0) found.push({ writer, points: joined.take() });
    };
    for (let block = this.#first.get(series) ?? 0; block !== 0; block = this.#next[block]!) {
      const row = this.#rows[this.#row[block]!]!;
      if (row.pos <= afterPos) continue;
      if (row.writer !== writer) finish();
      writer = row.writer;
      const reader = new ByteReader(row.body, this.#offset[block]);
      if (joined.add(reader)) continue;
      finish();
      if (!joined.add(reader)) found.push({ writer, points: readBlock(reader) });
    }
    finish();
    return found;
  }

  /** Enters up to `rowsMax` more rows into the index. Returns whether rows up to `pos` are left. */
  indexSome(pos: number, rowsMax: number): boolean {
    this.#index(rowsMax);
    const next = this.#rows[this.#indexed];
    return next !== undefined && next.pos <= pos;
  }

  /** Every series with a block in the rows up to `pos`, also in damaged ones. */
  seriesThrough(pos: number): number[] {
    this.#index();
    const found = new Set<number>();
    for (const [series, block] of this.#first) {
      if (this.#rows[this.#row[block]!]!.pos <= pos) found.add(series);
    }
    for (const row of this.#damaged) {
      if (row.pos <= pos) for (const series of row.series) found.add(series);
    }
    return [...found];
  }

  dropThrough(pos: number): void {
    this.#keep((row) => row.pos > pos);
  }

  dropRun(run: number): void {
    this.#keep((row) => row.run !== run);
  }

  clear(): void {
    this.#damaged = [];
    this.#clearRows();
  }

  #clearRows(): void {
    this.#rows = [];
    this.#first.clear();
    this.#last.clear();
    this.#indexed = 0;
    this.#blocks = 1;
  }

  #keep(wanted: (row: LogRow) => boolean): void {
    this.#damaged = this.#damaged.filter(wanted);
    const kept = this.#rows.filter(wanted);
    if (kept.length === this.#rows.length) return;
    this.#clearRows();
    this.#rows = kept;
  }

  #index(rowsMax = Infinity): void {
    const end = Math.min(this.#rows.length, this.#indexed + rowsMax);
    for (; this.#indexed < end; this.#indexed++) {
      const row = this.#rows[this.#indexed]!;
      const reader = new ByteReader(row.body);
      for (const series of row.series) {
        this.#enter(series, reader.position);
        skipBlock(reader);
      }
    }
  }

  #enter(series: number, offset: number): void {
    const block = this.#blocks++;
    if (block === this.#row.length) {
      this.#row = doubled(this.#row);
      this.#offset = doubled(this.#offset);
      this.#next = doubled(this.#next);
    }
    this.#row[block] = this.#indexed;
    this.#offset[block] = offset;
    this.#next[block] = 0;
    const last = this.#last.get(series);
    if (last === undefined) this.#first.set(series, block);
    else this.#next[last] = block;
    this.#last.set(series, block);
  }
}

const BLOCKS_MIN = 1024;

function doubled(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(column.length * 2);
  grown.set(column);
  return grown;
}
