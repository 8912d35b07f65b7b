import type { Db } from "../file/db.ts";
import type { LinesMerge } from "./merge.ts";
import type { PackedLines } from "./pack.ts";
import { HEAD_COLUMNS, insertPiece, toPiece } from "./piece.ts";

/** How many lines a run has, as of the transaction in progress. */
interface Total {
  run: number;
  lines: number;
  size: number;
}

/**
 * The writing side of the runs' logs: assigns numbers to lines. Totals touched in a transaction are
 * written back once, by `flush`.
 */
export class Lines {
  readonly #db: Db;
  readonly #merge: LinesMerge;
  readonly #totals = new Map<number, Total>();
  readonly #dirty = new Set<Total>();

  constructor(db: Db, merge: LinesMerge) {
    this.#db = db;
    this.#merge = merge;
  }

  append(run: number, pieces: readonly PackedLines[], nowUs: number): void {
    const total = this.#total(run);
    for (const piece of pieces) {
      const place = { run, first: total.lines, receivedUs: nowUs, crc: piece.crc };
      insertPiece(this.#db, "line_row", place, piece);
      total.lines += piece.count;
      total.size += piece.size;
    }
    this.#dirty.add(total);
    this.#merge.count(run, pieces);
  }

  flush(): void {
    for (const { run, lines, size } of this.#dirty) {
      this.#db.run("INSERT OR REPLACE INTO line_total (run, lines, size) VALUES (?, ?, ?)", run, lines, size);
    }
    this.#dirty.clear();
  }

  /** Deletes the lines of a run; the total goes with the run. Once that is certain, `forgetRun` is due. */
  remove(run: number): void {
    this.#db.run("DELETE FROM line_row WHERE run = ?", run);
    this.#db.run("DELETE FROM line_chunk WHERE run = ?", run);
  }

  forgetRun(run: number): void {
    const total = this.#totals.get(run);
    if (total !== undefined) this.#dirty.delete(total);
    this.#totals.delete(run);
  }

  /** Drops what is only in memory: after a rollback, or to stay small. */
  forget(): void {
    this.#totals.clear();
    this.#dirty.clear();
  }

  get cachedTotals(): number {
    return this.#totals.size;
  }

  #total(run: number): Total {
    let total = this.#totals.get(run);
    if (total === undefined) {
      total = { run, lines: countLines(this.#db, run), size: storedTotal(this.#db, run).size };
      this.#totals.set(run, total);
    }
    return total;
  }
}

/** As it is written down. */
export function storedTotal(db: Db, run: number): { lines: number; size: number } {
  const [lines, size] = db.find("SELECT lines, size FROM line_total WHERE run = ?", run) ?? [0, 0];
  return { lines: Number(lines), size: Number(size) };
}

/** The number after the last line. If the total is wrong, it is still not below any existing line. */
export function countLines(db: Db, run: number): number {
  let end = storedTotal(db, run).lines;
  for (const table of ["line_row", "line_chunk"] as const) {
    const rows = db.each(`SELECT id, ${HEAD_COLUMNS} FROM ${table} WHERE run = ? ORDER BY first DESC`, run);
    for (const row of rows) {
      // One that fails its checksum may be of another run, or say any number.
      const piece = toPiece(table, row);
      if (piece === undefined) continue;
      end = Math.max(end, piece.first + piece.count);
      break;
    }
  }
  return end;
}
