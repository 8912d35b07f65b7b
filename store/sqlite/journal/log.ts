import { crc32 } from "node:zlib";
import type { Row } from "../file/db.ts";
import type { LogRow } from "./tail.ts";

export const LOG_COLUMNS = "pos, run, writer, seq, digest, crc, head_crc, series, body";

const head = new Float64Array(5);
const headBytes = new Uint8Array(head.buffer);

/** Of all that a row says besides its body: a change of the owner of the points must be detected, too. */
export function headCrc(row: Omit<LogRow, "series" | "body" | "damage">, series: Uint8Array): number {
  head[0] = row.pos;
  head[1] = row.run;
  head[2] = row.writer;
  head[3] = row.seq;
  head[4] = row.digest;
  return crc32(series, crc32(headBytes));
}

/** What a series says of a damaged row with points of its own. */
export function lostIn({ pos }: LogRow): string {
  return `log row ${pos} with some of its points is damaged`;
}

/** A row that does not match its checksums says so; nothing of its body may be used then. */
export function readLogRow(stored: Row): LogRow {
  const [pos, run, writer, seq, digest, crc, storedHeadCrc, series, bytes] = stored;
  const ids = series as Uint8Array;
  const body = bytes as Uint8Array;
  const said = {
    pos: Number(pos),
    run: Number(run),
    writer: Number(writer),
    seq: Number(seq),
    digest: Number(digest),
  };
  // Without an intact head the series of the row are unknown.
  if (headCrc(said, ids) !== Number(storedHeadCrc)) {
    return { ...said, series: new Uint32Array(), body: new Uint8Array(), damage: "head" };
  }
  const whole = {
    ...said,
    series: new Uint32Array(ids.buffer.slice(ids.byteOffset, ids.byteOffset + ids.byteLength)),
  };
  return crc32(body) === Number(crc)
    ? { ...whole, body, damage: undefined }
    : { ...whole, body: new Uint8Array(), damage: "body" };
}
