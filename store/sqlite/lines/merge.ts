import { crc32 } from "node:zlib";
import type { CairnError } from "#lang/errors.ts";
import type { Background } from "../committer.ts";
import type { Db } from "../file/db.ts";
import type { LineBlock } from "./block.ts";
import { LineBlockWriter, weightOf } from "./block-writer.ts";
import { PIECE_WEIGHT_MAX, type PackedLines } from "./pack.ts";
import { HEAD_COLUMNS, insertPiece, openPiece, toPiece, type LinePiece } from "./piece.ts";

/** So many rows are merged though they are small: reading each of them costs more than its bytes. */
const ROWS_MAX = 512;
const ROWS_PER_STEP = 512;

/** Rows of one run that are not yet in chunks. */
interface Pending {
  rows: number;
  weight: number;
  /** Whether lines came since the last look. */
  fresh: boolean;
  /** Merge all of it, however little it is. */
  wanted: boolean;
}

/**
 * Moves the rows of a log into larger, compressed chunks, a slice at a time, in the transactions of the
 * writer: once a run has enough of them, or has been quiet for a while. A chunk that is small is merged
 * with what comes after it, but only with at least half as much, so that no line is rewritten more than
 * some twenty times. A row that fails its checksum is moved as it is, to be named and perhaps be repaired.
 */
export class LinesMerge implements Background {
  readonly #db: Db;
  readonly #pending = new Map<number, Pending>();
  /** Runs that have work to do. */
  readonly #ripe = new Set<number>();
  readonly #writer = new LineBlockWriter();
  #failure: CairnError | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Lines that were appended. */
  count(run: number, pieces: readonly PackedLines[]): void {
    for (const { size, count } of pieces) this.#count(run, 1, weightOf(size, count), true);
  }

  /** All that waits in the file: at the start, and after a rollback. */
  reload(): void {
    this.#pending.clear();
    this.#ripe.clear();
    const rows = this.#db.each("SELECT run, count(*), sum(size), sum(count) FROM line_row GROUP BY run");
    for (const [run, pieces, size, count] of rows) {
      this.#count(Number(run), Number(pieces), weightOf(Number(size), Number(count)), false);
    }
  }

  forgetRun(run: number): void {
    this.#pending.delete(run);
    this.#ripe.delete(run);
  }

  /** Called every so often: runs that were quiet since the last time become ripe. Returns whether some are. */
  tend(): boolean {
    this.#failure = undefined;
    for (const [run, pending] of this.#pending) {
      if (!pending.fresh) this.#want(run, pending);
      pending.fresh = false;
    }
    return this.due;
  }

  /** Merges everything at the next chance. */
  request(): void {
    this.#failure = undefined;
    for (const [run, pending] of this.#pending) this.#want(run, pending);
  }

  /** After a failure that is not the storage's: waits for the next request, so that writes continue. */
  pause(cause: CairnError): void {
    this.#failure = cause;
  }

  get failure(): CairnError | undefined {
    return this.#failure;
  }

  get due(): boolean {
    return this.#failure === undefined && this.#ripe.size > 0;
  }

  slice(budgetMs: number): boolean {
    const deadline = performance.now() + budgetMs;
    while (this.due) {
      const [run] = this.#ripe;
      this.#step(run!);
      if (performance.now() >= deadline) break;
    }
    return this.due;
  }

  #count(run: number, rows: number, weight: number, fresh: boolean): void {
    let pending = this.#pending.get(run);
    if (pending === undefined) {
      this.#pending.set(run, (pending = { rows: 0, weight: 0, fresh, wanted: false }));
    }
    pending.rows += rows;
    pending.weight += weight;
    pending.fresh = fresh;
    if (pending.rows >= ROWS_MAX) this.#want(run, pending);
    else if (pending.weight >= PIECE_WEIGHT_MAX) this.#ripe.add(run);
  }

  #want(run: number, pending: Pending): void {
    pending.wanted = true;
    this.#ripe.add(run);
  }

  /** One chunk of one run. */
  #step(run: number): void {
    const pending = this.#pending.get(run);
    const rows = pending === undefined ? [] : this.#firstRows(run);
    if (pending === undefined || rows.length === 0) {
      this.forgetRun(run);
      return;
    }
    const [first] = rows;
    if (first!.block === undefined) this.#keepDamaged(first!.id);
    else this.#merge(rows as Row[]);
    for (const { id, weight } of rows) {
      this.#db.run("DELETE FROM line_row WHERE id = ?", id);
      pending.rows--;
      pending.weight -= weight;
    }
    if (pending.rows <= 0) this.forgetRun(run);
    else if (!pending.wanted && pending.weight < PIECE_WEIGHT_MAX) this.#ripe.delete(run);
  }

  /** Neighbours that fit into one chunk; or, when the first one is damaged, that one alone. */
  #firstRows(run: number): (Row | Damaged)[] {
    const found: (Row | Damaged)[] = [];
    let weight = 0;
    const stored = this.#db.each(
      `SELECT id, ${HEAD_COLUMNS} FROM line_row WHERE run = ? ORDER BY first LIMIT ${ROWS_PER_STEP}`,
      run,
    );
    for (const row of stored) {
      const piece = toPiece("line_row", row);
      const block = piece && openPiece(this.#db, piece);
      const own = weightOf(Number(row[4]), Number(row[3]));
      if (piece === undefined || block === undefined) {
        if (found.length === 0) found.push({ id: Number(row[0]), weight: own, block: undefined });
        return found;
      }
      const before = found.at(-1) as Row | undefined;
      if (before !== undefined) {
        if (weight + own > PIECE_WEIGHT_MAX) return found;
        if (piece.first !== before.piece.first + before.piece.count) return found;
      }
      found.push({ id: piece.id, weight: own, piece, block });
      weight += own;
    }
    return found;
  }

  #merge(rows: readonly Row[]): void {
    const { run, first } = rows[0]!.piece;
    const absorbed = this.#smallBefore(run, first, rows);
    const all = [...absorbed, ...rows];
    this.#writer.reset();
    for (const { block } of all) for (const lines of block.runs()) this.#writer.add(lines);
    const written = this.#writer.writePacked();
    for (const { id } of absorbed) this.#db.run("DELETE FROM line_chunk WHERE id = ?", id);
    const place = { run, first: all[0]!.piece.first, receivedUs: 0, crc: crc32(written.body) };
    insertPiece(this.#db, "line_chunk", place, written);
  }

  /** Chunks directly before these rows that are to become one with them, in order. */
  #smallBefore(run: number, first: number, rows: readonly Row[]): Row[] {
    let weight = rows.reduce((sum, row) => sum + row.weight, 0);
    const absorbed: Row[] = [];
    for (let end = first; ;) {
      const stored = this.#db.find(
        `SELECT id, ${HEAD_COLUMNS} FROM line_chunk WHERE run = ? AND first < ? ORDER BY first DESC LIMIT 1`,
        run,
        end,
      );
      const piece = stored && toPiece("line_chunk", stored);
      if (piece === undefined || piece.first + piece.count !== end) return absorbed;
      const own = weightOf(piece.size, piece.count);
      if (own > 2 * weight || own + weight > PIECE_WEIGHT_MAX) return absorbed;
      const block = openPiece(this.#db, piece);
      if (block === undefined) return absorbed;
      absorbed.unshift({ id: piece.id, weight: own, piece, block });
      weight += own;
      end = piece.first;
    }
  }

  #keepDamaged(id: number): void {
    this.#db.run(
      `INSERT INTO line_chunk (${HEAD_COLUMNS}, body) SELECT ${HEAD_COLUMNS}, body FROM line_row WHERE id = ?`,
      id,
    );
  }
}

interface Damaged {
  id: number;
  weight: number;
  block: undefined;
}

interface Row {
  id: number;
  weight: number;
  piece: LinePiece;
  block: LineBlock;
}
