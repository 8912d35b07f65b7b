/**
 * The log form of points: written once per batch, read once when it is folded into chunks, so speed
 * counts more than size. A block is a length, a head byte, a count and the columns one after another;
 * docs/formats/log-body.md is its exact layout.
 */
import { readColumn, writeColumn } from "./block-column.ts";
import { readValues, valueBytesMin, writeValues } from "./block-values.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { checkColumns, kindOf, kinds, NANOS_MAX, type Kind } from "./kind.ts";
import type { Points } from "./points.ts";

const HAS_STEPS = 4;
const HAS_TIMES = 8;
const HAS_NANOS = 16;
const VERSION_MASK = 0xe0; // zero in this version of the format

/** A length below this is one byte; this byte itself announces a length of four bytes. */
const LENGTH_IS_LONG = 255;
const SMALL_COUNT_MAX = 6; // 6 * (8 step + 8 time + 2 nanos + 8 value) and the rest are below 255 bytes

export interface BlockHeader {
  readonly kind: Kind;
  readonly count: number;
}

/** Throws CodecError, and leaves the writer as it was, when the columns do not fit each other or the format. */
export function writeBlock(writer: ByteWriter, points: Points): void {
  const { count, steps, times, nanos, values } = points;
  checkColumns(points);
  const start = writer.length;
  const small = count <= SMALL_COUNT_MAX && values.kind !== "text";
  writer.reserve(64);
  writer.length += small ? 1 : 5;
  const body = writer.length;
  try {
    writer.u8(
      kinds.indexOf(values.kind) |
        (steps === undefined ? 0 : HAS_STEPS) |
        (times === undefined ? 0 : HAS_TIMES) |
        (nanos === undefined ? 0 : HAS_NANOS),
    );
    writer.varint(count);
    if (steps !== undefined) writeColumn(writer, steps);
    if (times !== undefined) writeColumn(writer, times);
    if (nanos !== undefined) writer.copyOf(nanos);
    writeValues(writer, values);
  } catch (thrown) {
    writer.length = start;
    throw thrown;
  }
  const end = writer.length;
  if (small) writer.bytes[start] = end - body;
  else {
    writer.length = start;
    writer.u8(LENGTH_IS_LONG);
    writer.u32(end - body);
    writer.length = end;
  }
}

/** The reader stands behind the block afterwards. The arrays are new and belong to the caller. */
export function readBlock(reader: ByteReader): Points {
  const end = readLength(reader);
  const head = reader.u8();
  const kind = kindOf(head & 3);
  const count = readCount(reader, head, end);
  // Every kind of value has a least size, so a false count cannot make the columns large.
  if (valueBytesMin(kind, count) > end - reader.position) throw malformed("it is shorter than its count");
  const steps = (head & HAS_STEPS) === 0 ? undefined : readColumn(reader, count);
  const times = (head & HAS_TIMES) === 0 ? undefined : readColumn(reader, count);
  const nanos = (head & HAS_NANOS) === 0 ? undefined : readNanos(reader, count);
  const values = readValues(reader, kind, count);
  if (reader.position !== end) throw malformed("it does not end where it says");
  return { count, steps, times, nanos, values };
}

/** Moves behind the block without looking into it. */
export function skipBlock(reader: ByteReader): void {
  reader.position = readLength(reader);
}

/** Leaves the reader where it was, in front of the block. */
export function readBlockHeader(reader: ByteReader): BlockHeader {
  const start = reader.position;
  const end = readLength(reader);
  const head = reader.u8();
  const count = readCount(reader, head, end);
  reader.position = start;
  return { kind: kindOf(head & 3), count };
}

/** The position at which the block ends. */
function readLength(reader: ByteReader): number {
  const short = reader.u8();
  const length = short === LENGTH_IS_LONG ? reader.u32() : short;
  if (length > reader.remaining) throw malformed("it is cut off");
  return reader.position + length;
}

function readCount(reader: ByteReader, head: number, end: number): number {
  if ((head & VERSION_MASK) !== 0) throw malformed("a newer version wrote it");
  const count = reader.varint();
  if (reader.position > end) throw malformed("it does not end where it says");
  return count;
}

function readNanos(reader: ByteReader, count: number): Uint16Array {
  const nanos = new Uint16Array(count);
  new Uint8Array(nanos.buffer).set(reader.take(count * 2));
  for (const nano of nanos) if (nano > NANOS_MAX) throw malformed(`"${nano}" is no nanosecond`);
  return nanos;
}

function malformed(cause: string): CodecError {
  return new CodecError(`cannot read block: ${cause}`);
}
