import { CairnError } from "#lang/errors.ts";
import type { Db } from "../file/db.ts";
import { HEAD_COLUMNS, toPiece, type LinePiece, type LineTable } from "./piece.ts";

/** Numbers of which no whole piece is known. */
export interface MissingLines {
  first: number;
  /** The first number behind them. */
  next: number;
}

const TABLES: readonly LineTable[] = ["line_chunk", "line_row"];

/**
 * The pieces of a log from the one that holds line `from` to the one that ends at `total`, in order, and
 * what is missing between them. Pieces that do not match their checksum are left out, so what they held
 * is missing.
 */
export function* walkLines(
  db: Db,
  run: number,
  from: number,
  total: number,
): Generator<LinePiece | MissingLines> {
  let next = from;
  for (const table of TABLES) {
    for (const piece of piecesFrom(db, table, run, from)) {
      if (piece.first + piece.count <= next) continue;
      if (piece.first > next) yield { first: next, next: piece.first };
      yield piece;
      next = piece.first + piece.count;
    }
  }
  if (next < total) yield { first: next, next: total };
}

function* piecesFrom(db: Db, table: LineTable, run: number, from: number): Generator<LinePiece> {
  const stored = db.each(
    `SELECT id, ${HEAD_COLUMNS} FROM ${table} WHERE run = ?1
       AND first >= coalesce((SELECT max(first) FROM ${table} WHERE run = ?1 AND first <= ?2), 0) ORDER BY first`,
    run,
    from,
  );
  for (const row of stored) {
    const piece = toPiece(table, row);
    if (piece !== undefined) yield piece;
  }
}

export function isMissing(piece: LinePiece | MissingLines): piece is MissingLines {
  return !("count" in piece);
}

export function damagedLines({ first, next }: MissingLines): CairnError {
  return new CairnError("corrupt", `cannot read lines ${first} to ${next - 1} of the log: they are damaged`, {
    reason: "LINES_DAMAGED",
    facts: { first: String(first), next: String(next) },
    hint: `restore a backup, or continue from line ${next}`,
  });
}
