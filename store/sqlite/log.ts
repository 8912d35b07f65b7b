import { crc32 } from "node:zlib";
import { CairnError } from "#core/errors.ts";
import type { Row } from "./db.ts";
import type { LogRow } from "./tail.ts";

export const LOG_COLUMNS = "pos, run, writer, seq, digest, crc, series, body";

/** A row whose body does not match its checksum is an error that names it, never a wrong value. */
export function readLogRow(row: Row): LogRow {
  const [pos, run, writer, seq, digest, crc, series, body] = row;
  const bytes = body as Uint8Array;
  if (crc32(bytes) !== Number(crc)) {
    throw new CairnError("corrupt", `cannot read log row ${Number(pos)}: its checksum is wrong`, {
      reason: "LOG_DAMAGED",
      hint: "restore a backup",
    });
  }
  const ids = series as Uint8Array;
  return {
    pos: Number(pos),
    run: Number(run),
    writer: Number(writer),
    seq: Number(seq),
    digest: Number(digest),
    series: new Uint32Array(ids.buffer.slice(ids.byteOffset, ids.byteOffset + ids.byteLength)),
    body: bytes,
  };
}
