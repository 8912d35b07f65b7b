import { sameSource } from "#core/types/log.ts";
import type { FoundLines, LogPage, ReadLog, SearchLog } from "#core/ports/log-store.ts";
import type { Db } from "../file/db.ts";
import { countLines, storedTotal } from "./lines.ts";
import type { LineBlock } from "./block.ts";
import { EVERY_LINE_MATCHES, matcherOf, type LineMatcher } from "./match.ts";
import { HEAD_COLUMNS, openPiece, toPiece, type LinePiece } from "./piece.ts";
import { LineScan } from "./scan.ts";
import { decodeSources } from "./sources.ts";
import { damagedLines, isMissing, walkLines } from "./walk.ts";

/** Reads logs, each call on one moment of the store. */
export class LinesReader {
  readonly #db: Db;
  readonly #own: boolean;

  /** With `own`, this connection is the reader's alone; else the writer uses it between calls. */
  constructor(db: Db, options: { own: boolean }) {
    this.#db = db;
    this.#own = options.own;
  }

  read(request: ReadLog): LogPage {
    const { lines, next, total } = this.#scan(request, EVERY_LINE_MATCHES);
    return { lines, next, total, more: next < total };
  }

  search(request: SearchLog): FoundLines {
    const { lines, start, next, total } = this.#scan(request, matcherOf(request.pattern));
    return { lines, next, more: next < total, searched: next - start };
  }

  count(runId: string): number {
    return this.#moment(() => {
      const run = this.#runKey(runId);
      return run === undefined ? 0 : countLines(this.#db, run);
    });
  }

  /** One sentence per damaged part of a run's log. Call inside a read transaction. */
  *verify(run: number): Generator<string> {
    const total = countLines(this.#db, run);
    const damaged = (first: number, next: number) =>
      `log: its lines from number ${first} to ${next - 1} are damaged`;
    for (const piece of walkLines(this.#db, run, 0, total)) {
      if (isMissing(piece)) yield damaged(piece.first, piece.next);
      else if (!isWhole(piece, openPiece(this.#db, piece))) {
        yield damaged(piece.first, piece.first + piece.count);
      }
    }
    for (const table of ["line_chunk", "line_row"] as const) {
      for (const row of this.#db.each(`SELECT id, ${HEAD_COLUMNS} FROM ${table} WHERE run = ?`, run)) {
        if (toPiece(table, row) !== undefined) continue;
        yield `log: a piece (${table} ${Number(row[0])}) does not say any more which lines it held`;
      }
    }
    const { lines } = storedTotal(this.#db, run);
    if (lines < total) yield `log: it ends at line number ${total}, not at ${lines}`;
  }

  #scan(request: ReadLog, matcher: LineMatcher): LineScan {
    return this.#moment(() => {
      const run = this.#runKey(request.runId);
      const scan = new LineScan(request, matcher, run === undefined ? 0 : countLines(this.#db, run));
      const { start, total } = scan;
      if (run === undefined || start >= total) return scan;
      for (const piece of walkLines(this.#db, run, start, total)) {
        const damage = isMissing(piece) ? piece : scan.take(piece, () => openPiece(this.#db, piece));
        if (damage !== undefined && scan.next === start) throw damagedLines(damage);
        // Lines before the damage are an answer; only a read that begins there is refused.
        if (damage !== undefined || scan.isOver) break;
      }
      return scan;
    });
  }

  #moment<T>(work: () => T): T {
    return this.#own ? this.#db.snapshot(work) : work();
  }

  #runKey(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }
}

/** Whether the lines are as they were written and filed under what they hold. */
function isWhole(piece: LinePiece, block: LineBlock | undefined): boolean {
  if (block === undefined) return false;
  const { count, times, source, sources } = block.columns;
  let [min, max] = [Infinity, -Infinity];
  for (const time of times) {
    min = Math.min(min, time);
    max = Math.max(max, time);
  }
  const listed = decodeSources(piece.sources);
  const used = [...new Set(source)].map((index) => sources[index]!);
  return (
    count === piece.count &&
    min === piece.timeMin &&
    max === piece.timeMax &&
    (listed === undefined || used.every((one) => listed.some((other) => sameSource(one, other))))
  );
}
