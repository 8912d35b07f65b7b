import { crc32 } from "node:zlib";
import { CodecError } from "#base/codec/error.ts";
import type { LogFilter, LogSource } from "#core/types/log.ts";
import type { Db, Row } from "../file/db.ts";
import { LineBlock } from "./block.ts";
import type { WrittenBlock } from "./block-writer.ts";
import { decodeSources } from "./sources.ts";

export type LineTable = "line_row" | "line_chunk";

export const HEAD_COLUMNS =
  "run, first, count, size, time_min, time_max, received_us, crc, head_crc, sources";

/** What is stored beside the body of a piece: enough to tell whether it must be opened. */
export interface LineHead {
  run: number;
  /** The number of its first line. */
  first: number;
  count: number;
  /** Bytes of text. */
  size: number;
  timeMin: number;
  timeMax: number;
  /** The time of lines that came without one. */
  receivedUs: number;
  crc: number;
  sources: Uint8Array;
}

/** A piece of a log, in its table. */
export interface LinePiece extends LineHead {
  table: LineTable;
  id: number;
}

const doubles = new Float64Array(8);
const doubleBytes = new Uint8Array(doubles.buffer);

/** A change of the run or the numbers of the lines must be detected, too. */
function headCrc(head: LineHead): number {
  doubles[0] = head.run;
  doubles[1] = head.first;
  doubles[2] = head.count;
  doubles[3] = head.size;
  doubles[4] = head.timeMin;
  doubles[5] = head.timeMax;
  doubles[6] = head.receivedUs;
  doubles[7] = head.crc;
  return crc32(head.sources, crc32(doubleBytes));
}

export function insertPiece(
  db: Db,
  table: LineTable,
  place: { run: number; first: number; receivedUs: number; crc: number },
  block: WrittenBlock,
): void {
  const { run, first, receivedUs, crc } = place;
  const { count, size, untimed, sources, body } = block;
  const timeMin = untimed ? Math.min(block.timeMin, receivedUs) : block.timeMin;
  const timeMax = untimed ? Math.max(block.timeMax, receivedUs) : block.timeMax;
  const head = { run, first, count, size, timeMin, timeMax, receivedUs, crc, sources };
  db.run(
    `INSERT INTO ${table} (${HEAD_COLUMNS}, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run,
    first,
    count,
    size,
    timeMin,
    timeMax,
    receivedUs,
    crc,
    headCrc(head),
    sources,
    body,
  );
}

/** `row` as `id, HEAD_COLUMNS`. undefined when it fails its checksum: then its lines are unknown. */
export function toPiece(table: LineTable, row: Row): LinePiece | undefined {
  const head: LineHead = {
    run: Number(row[1]),
    first: Number(row[2]),
    count: Number(row[3]),
    size: Number(row[4]),
    timeMin: Number(row[5]),
    timeMax: Number(row[6]),
    receivedUs: Number(row[7]),
    crc: Number(row[8]),
    sources: row[10] as Uint8Array,
  };
  return headCrc(head) === Number(row[9]) ? { ...head, table, id: Number(row[0]) } : undefined;
}

/** undefined when the lines fail their checksum. */
export function openPiece(db: Db, piece: LinePiece): LineBlock | undefined {
  const row = db.find(`SELECT body FROM ${piece.table} WHERE id = ?`, piece.id);
  const body = row?.[0] as Uint8Array | undefined;
  if (body === undefined || crc32(body) !== piece.crc) return undefined;
  try {
    const block = new LineBlock(body, piece.receivedUs);
    return block.text.length === piece.size ? block : undefined;
  } catch (thrown) {
    if (thrown instanceof CodecError) return undefined;
    throw thrown;
  }
}

/** Whether a piece may hold lines that the filter selects. */
export function mayHold(piece: LineHead, filter: LogFilter): boolean {
  const { fromUs, toUs } = filter;
  if (fromUs !== undefined && piece.timeMax < fromUs) return false;
  if (toUs !== undefined && piece.timeMin > toUs) return false;
  if (filter.origin === undefined && filter.stream === undefined && filter.rank === undefined) return true;
  const sources = decodeSources(piece.sources);
  return sources === undefined || sources.some((source) => selects(filter, source));
}

export function selects(filter: LogFilter, { origin, stream, rank }: LogSource): boolean {
  return (
    (filter.origin === undefined || filter.origin === origin) &&
    (filter.stream === undefined || filter.stream === stream) &&
    (filter.rank === undefined || filter.rank === rank)
  );
}
