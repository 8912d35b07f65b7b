import { CairnError, quote } from "#lang/errors.ts";
import { rebuildState, type Piece, type WriterMark } from "#core/series/state.ts";
import type { Points } from "#core/types/series.ts";
import type { Db } from "../file/db.ts";
import type { Tail } from "../journal/tail.ts";
import type { SeriesEntry } from "./catalog.ts";
import { chunkId, chunksIn, foldSeries, openChunk, writeChunk, type ChunkRange } from "./chunks.ts";
import { pickPoints } from "./points.ts";

/**
 * Takes the points in a range out of a series. All of it is moved out of the log first, so that no row of the log has
 * points of the series any more; the chunks that are left are numbered without gaps. `entry` is changed, and must
 * be saved. Returns how many points were deleted.
 */
export function cutSeries(db: Db, entry: SeriesEntry, tail: Tail, range: ChunkRange): number {
  requireWhole(entry, tail);
  foldSeries(db, entry, tail);
  entry.foldedPos = tail.lastPos;
  const cut = cutChunks(db, entry, range);
  if (cut.points === 0) return 0;
  const writers = entry.state.writers.map((mark, i) => ({
    ...mark,
    firstOrdinal: mark.firstOrdinal - cut.before[i]!,
  }));
  entry.state = rebuildState(entry.state.kind, writers, piecesOf(db, entry));
  return cut.points;
}

function* piecesOf(db: Db, entry: SeriesEntry): Generator<Piece> {
  for (const chunk of chunksIn(db, entry.id, undefined)) {
    yield { points: openChunk(entry, chunk), firstOrdinal: chunk.firstOrdinal };
  }
}

interface Cut {
  points: number;
  /** By writer: how many of the points before its first one went. */
  before: number[];
}

/** Chunks that the range does not touch keep their bytes, and move up. */
function cutChunks(db: Db, entry: SeriesEntry, range: ChunkRange): Cut {
  const { writers } = entry.state;
  const cut: Cut = { points: 0, before: writers.map(() => 0) };
  const touched = new Set<number>();
  // One by one: all bodies at once may be hundreds of megabytes.
  for (const { firstOrdinal } of chunksIn(db, entry.id, range)) touched.add(firstOrdinal);
  const stored = db.all(
    "SELECT id, first_ordinal FROM chunk WHERE id >= ? AND id < ? ORDER BY id",
    chunkId(entry.id, 0),
    chunkId(entry.id + 1, 0),
  );
  let number = 0;
  for (const [id, first] of stored) {
    const firstOrdinal = Number(first);
    const kept = touched.has(firstOrdinal)
      ? keptOf(db, entry, { id: Number(id), firstOrdinal }, range)
      : undefined;
    const place = firstOrdinal - cut.points;
    if (kept === undefined) {
      if (cut.points > 0) move(db, Number(id), chunkId(entry.id, number), place);
      number++;
      continue;
    }
    db.run("DELETE FROM chunk WHERE id = ?", id!);
    if (kept.points.count > 0) writeChunk(db, chunkId(entry.id, number++), place, kept.points);
    countBefore(cut.before, writers, firstOrdinal, kept.gone);
    cut.points += kept.gone.length;
  }
  entry.chunks = number;
  return cut;
}

/** The kept points of a chunk, and the places of deleted ones; undefined when there are none. */
function keptOf(
  db: Db,
  entry: SeriesEntry,
  chunk: { id: number; firstOrdinal: number },
  { axis, from, to }: ChunkRange,
): { points: Points; gone: number[] } | undefined {
  const [body] = db.find("SELECT body FROM chunk WHERE id = ?", chunk.id)!;
  const points = openChunk(entry, { firstOrdinal: chunk.firstOrdinal, body: body as Uint8Array });
  const at = axis === "step" ? points.steps : points.times;
  if (at === undefined) return undefined;
  const stay: number[] = [];
  const gone: number[] = [];
  for (let i = 0; i < points.count; i++) (at[i]! >= from && at[i]! <= to ? gone : stay).push(i);
  return gone.length === 0 ? undefined : { points: pickPoints(points, Uint32Array.from(stay)), gone };
}

function countBefore(
  before: number[],
  writers: readonly WriterMark[],
  firstOrdinal: number,
  gone: readonly number[],
): void {
  writers.forEach((mark, i) => {
    before[i]! += gone.reduce((sum, place) => sum + Number(firstOrdinal + place < mark.firstOrdinal), 0);
  });
}

function move(db: Db, id: number, newId: number, firstOrdinal: number): void {
  db.run("UPDATE chunk SET id = ?, first_ordinal = ? WHERE id = ?", newId, firstOrdinal, id);
}

/** In a damaged series, remaining points cannot be distinguished from lost ones: only the whole of it can be deleted. */
function requireWhole(entry: SeriesEntry, tail: Tail): void {
  if (entry.damaged === undefined && tail.damageOf(entry).length === 0) return;
  throw new CairnError("corrupt", `cannot delete a range of series ${quote(entry.key)}: it is damaged`, {
    reason: "LOG_DAMAGED",
    hint: "delete the whole series, or restore a backup",
  });
}
