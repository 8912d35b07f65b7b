import { SeriesKind, type Column } from "#proto/cairn/v1/metric_pb.ts";

const EMPTY = new Float64Array(0);

/** Little-endian doubles; copied only if they are not aligned to 8 bytes. */
export function doublesOf(column: Column | undefined): Float64Array {
  if (column === undefined) return EMPTY;
  const { bytes } = column;
  if (bytes.length === 0) return EMPTY;
  if (bytes.byteOffset % 8 === 0) return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  return new Float64Array(bytes.slice().buffer);
}

/** The values of a series of numbers, integers or bools as doubles. */
export function valuesOf(column: Column | undefined, kind: SeriesKind): Float64Array {
  if (column === undefined) return EMPTY;
  if (kind === SeriesKind.BOOL) return Float64Array.from(column.bytes);
  if (kind !== SeriesKind.INTEGER) return doublesOf(column);
  return Float64Array.from(new BigInt64Array(column.bytes.slice().buffer), Number);
}
