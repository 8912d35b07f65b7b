import { decodeChunk, readChunkHeader } from "#base/codec/chunk.ts";
import { quote } from "#lang/errors.ts";
import { findSeries } from "../series/catalog.ts";
import { chunkId } from "../series/chunks.ts";
import type { Db, Row } from "./db.ts";
import { LOG_COLUMNS, readLogRow } from "../journal/log.ts";
import type { CurrentSeries } from "../series/read-series.ts";
import type { LogRow, Tail } from "../journal/tail.ts";

/** As doubles: 2^53, which a step may be, is an integer that the driver does not read. */
const BOUNDS = ["step_min", "step_max", "time_min", "time_max"]
  .map((bound) => `CAST(${bound} AS REAL)`)
  .join(", ");

/** Reads every point of a series and compares its stored bounds with it. Returns how many were right. */
export function verifySeries(
  db: Db,
  { entry, logged }: CurrentSeries,
  report: (problem: string) => void,
): number {
  const name = `series ${quote(entry.key)}`;
  if (entry.damaged !== undefined) report(`${name}: ${entry.damaged}`);
  let points = 0;
  let next = 0;
  const chunks = db.each(
    `SELECT first_ordinal, count, ${BOUNDS}, body FROM chunk
     WHERE id >= ? AND id < ? ORDER BY id`,
    chunkId(entry.id, 0),
    chunkId(entry.id + 1, 0),
  );
  for (const chunk of chunks) {
    const [first, count] = [Number(chunk[0]), Number(chunk[1])];
    if (first !== next) report(`${name}: its points from number ${next} to ${first - 1} are missing`);
    if (isWhole(chunk)) points += count;
    else report(`${name}: its points from number ${first} on are damaged`);
    next = first + count;
  }
  for (const { points: piece } of logged) {
    points += piece.count;
    next += piece.count;
  }
  if (next !== entry.state.total && entry.damaged === undefined) {
    report(`${name}: it ends at point number ${next}, not at ${entry.state.total}`);
  }
  return points;
}

/** Whether the points are as they were written and filed under what they hold. */
function isWhole([, count, stepMin, stepMax, timeMin, timeMax, body]: Row): boolean {
  try {
    const header = readChunkHeader(body as Uint8Array);
    return (
      decodeChunk(body as Uint8Array).count === count &&
      (header.stepMin ?? null) === stepMin &&
      (header.stepMax ?? null) === stepMax &&
      (header.timeMin ?? null) === timeMin &&
      (header.timeMax ?? null) === timeMax
    );
  } catch {
    return false;
  }
}

/** Log rows that failed a checksum before all their points were in chunks. */
export function damagedRows(db: Db, tail: Tail): LogRow[] {
  const kept = db.all(`SELECT ${LOG_COLUMNS} FROM damaged_log ORDER BY pos`).map(readLogRow);
  const known = new Set(kept.map((row) => row.pos));
  return [...kept, ...tail.damaged.filter((row) => !known.has(row.pos) && isNeeded(db, row))];
}

/** Whether points of the row are nowhere else. */
function isNeeded(db: Db, row: LogRow): boolean {
  if (row.damage === "head") return true;
  return row.series.some((id) => findSeries(db, "id = ?", id).some((entry) => entry.foldedPos < row.pos));
}

const NAMES_MAX = 5;

export function describeDamage(db: Db, row: LogRow): string {
  const which = `log row ${row.pos} is damaged`;
  if (row.damage === "head") return `${which}: an envelope with unknown points is lost`;
  const [writer] = db.find("SELECT name FROM writer WHERE id = ?", row.writer) ?? [""];
  const envelope = row.seq === 0 ? "an envelope" : `envelope ${row.seq} of writer ${quote(String(writer))}`;
  const names = [...row.series.subarray(0, NAMES_MAX)].flatMap((id) =>
    findSeries(db, "id = ?", id).map(({ key }) => quote(key)),
  );
  const more = row.series.length > NAMES_MAX ? ` and ${row.series.length - NAMES_MAX} more` : "";
  return `${which}: points of series ${names.join(", ")}${more} in ${envelope} are lost`;
}
