import { decodeChunk, readChunkHeader, type ChunkWant } from "#base/codec/chunk.ts";
import { CairnError } from "#lang/errors.ts";
import type { Points } from "#core/types/series.ts";
import type { Piece } from "#core/series/state.ts";
import type { SeriesEntry } from "./catalog.ts";
import type { Db, Row } from "../file/db.ts";
import { concatPoints, slicePoints } from "./points.ts";
import type { Tail, TailPiece } from "../journal/tail.ts";
import { encodeVerified } from "./verified-chunk.ts";

const CHUNK_POINTS = 65_535;
const SMALL_CHUNK_POINTS = 1024;
const CHUNK_TEXT_UNITS = 4 << 20;
const CHUNKS_PER_SERIES = 2 ** 20;
/** Half of the numbers: what the log holds of a series needs some when it is folded. */
export const CHUNKS_MAX = CHUNKS_PER_SERIES / 2;

export function chunkId(series: number, number: number): number {
  return series * CHUNKS_PER_SERIES + number;
}

export interface Chunk {
  firstOrdinal: number;
  body: Uint8Array;
}

export interface ChunkRange {
  axis: "step" | "time";
  from: number;
  to: number;
}

/** Chunks of a series that may hold a point in the range, in order of arrival. */
export function* chunksIn(db: Db, series: number, range: ChunkRange | undefined): Generator<Chunk> {
  const ids = [chunkId(series, 0), chunkId(series + 1, 0)];
  const sql = "SELECT first_ordinal, body FROM chunk WHERE id >= ? AND id < ?";
  const toChunk = ([firstOrdinal, body]: Row): Chunk => ({
    firstOrdinal: Number(firstOrdinal),
    body: body as Uint8Array,
  });
  const rows =
    range === undefined
      ? db.each(`${sql} ORDER BY id`, ...ids)
      : db.each(
          `${sql} AND ${range.axis}_max >= ? AND ${range.axis}_min <= ? ORDER BY id`,
          ...ids,
          clampToInteger(range.from),
          clampToInteger(range.to),
        );
  for (const row of rows) yield toChunk(row);
}

/** A damaged chunk is an error that names it, never a wrong value. */
export function openChunk(entry: SeriesEntry, chunk: Chunk, want?: ChunkWant): Points {
  try {
    return decodeChunk(chunk.body, want);
  } catch (cause) {
    throw new CairnError(
      "corrupt",
      `cannot read series "${entry.key}": its points from number ${chunk.firstOrdinal} on are damaged`,
      { cause, reason: "CHUNK_DAMAGED", hint: "restore a backup, or read another range" },
    );
  }
}

/** What can be read of a series in order of arrival, from chunks and log; damaged chunks are left out. */
export function* readablePieces(db: Db, entry: SeriesEntry, tail: Tail): Generator<Piece> {
  for (const chunk of chunksIn(db, entry.id, undefined)) {
    const points = tryOpen(entry, chunk);
    if (points !== undefined) yield { points, firstOrdinal: chunk.firstOrdinal };
  }
  yield* loggedPieces(entry, tail.pieces(entry.id, entry.foldedPos));
}

/** The pieces of the log with their places: they are the last points of the series. */
export function* loggedPieces(entry: SeriesEntry, logged: readonly TailPiece[]): Generator<Piece> {
  let firstOrdinal = entry.state.total;
  for (const { points } of logged) firstOrdinal -= points.count;
  for (const { points } of logged) {
    yield { points, firstOrdinal };
    firstOrdinal += points.count;
  }
}

/**
 * Moves the points of a series from the log into chunks. The last chunk is filled up first; points
 * stay in order of arrival, and a chunk never mixes points with and without steps or times.
 */
export function foldSeries(db: Db, entry: SeriesEntry, tail: Tail): void {
  const pieces: Points[] = [];
  let number = entry.chunks;
  let ordinal = entry.state.total;
  const fresh = tail.pieces(entry.id, entry.foldedPos).map((piece) => piece.points);
  for (const points of fresh) ordinal -= points.count;
  if (number > 0) {
    const last = db.find(
      "SELECT count, first_ordinal, body FROM chunk WHERE id = ?",
      chunkId(entry.id, number - 1),
    );
    const firstOrdinal = Number(last?.[1]);
    const opened =
      last !== undefined && worthFilling(Number(last[0]), entry.state.total - ordinal)
        ? tryOpen(entry, { firstOrdinal, body: last[2] as Uint8Array })
        : undefined;
    if (opened !== undefined) {
      pieces.push(opened);
      ordinal = firstOrdinal;
      number--;
    }
  }
  pieces.push(...fresh);
  for (const points of concatPoints(pieces)) {
    for (let from = 0, to = 0; from < points.count; from = to) {
      to = chunkEnd(points, from);
      writeChunk(db, chunkId(entry.id, number++), ordinal, slicePoints(points, from, to));
      ordinal += to - from;
    }
  }
  entry.chunks = number;
}

/** Where the chunk that begins at `from` ends: by count, for texts also by size. */
function chunkEnd({ count, values }: Points, from: number): number {
  const end = Math.min(count, from + CHUNK_POINTS);
  if (values.kind !== "text") return end;
  let units = 0;
  for (let i = from; i < end; i++) {
    units += values.data[i]!.length;
    if (units > CHUNK_TEXT_UNITS && i > from) return i;
  }
  return end;
}

/**
 * Rewriting a chunk to add a few points costs more than it saves once the chunk is much larger than
 * they are; a tiny one is always worth it.
 */
function worthFilling(count: number, fresh: number): boolean {
  return count < CHUNK_POINTS && count <= Math.max(SMALL_CHUNK_POINTS, 3 * fresh);
}

/** A damaged chunk is not changed; new points go into the next one. */
function tryOpen(entry: SeriesEntry, chunk: Chunk): Points | undefined {
  try {
    return openChunk(entry, chunk);
  } catch {
    return undefined;
  }
}

export function writeChunk(db: Db, id: number, firstOrdinal: number, points: Points): void {
  const body = encodeVerified(points);
  const header = readChunkHeader(body);
  db.run(
    `INSERT OR REPLACE INTO chunk (id, first_ordinal, count, step_min, step_max, time_min, time_max, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    firstOrdinal,
    points.count,
    header.stepMin ?? null,
    header.stepMax ?? null,
    header.timeMin ?? null,
    header.timeMax ?? null,
    body,
  );
}

// SQLite compares integers exactly only with integers; bounds beyond 2^53 select the same points.
function clampToInteger(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER - 1, Math.min(Number.MAX_SAFE_INTEGER + 1, value));
}
