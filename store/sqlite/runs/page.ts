import type { Row } from "../file/db.ts";

/** What a row costs besides its texts and bytes. */
const ROW_BYTES = 100;

export function rowBytes(row: Row): number {
  let bytes = ROW_BYTES;
  for (const value of row) {
    if (typeof value === "string") bytes += Buffer.byteLength(value);
    else if (value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}

/** Rows up to `limit`, and up to `bytesMax` but for the first; `more` says whether there was another one. */
export function takePage(
  rows: Iterable<Row>,
  { limit, bytesMax }: { limit: number; bytesMax: number },
): { rows: Row[]; more: boolean } {
  const page: Row[] = [];
  let left = bytesMax;
  for (const row of rows) {
    left -= rowBytes(row);
    if (page.length >= limit || (left < 0 && page.length > 0)) return { rows: page, more: true };
    page.push(row);
  }
  return { rows: page, more: false };
}
