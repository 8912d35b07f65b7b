/**
 * The log form of points: written once per batch, read once when it is folded into chunks, so speed
 * counts more than size. A block is a length, a head byte, a count and the columns one after another;
 * docs/formats/log-body.md is its exact layout.
 */
import { readColumn, readColumnInto, writeColumn } from "./block-column.ts";
import { readValues, valueBytesMin, writeValues } from "./block-values.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { checkColumns, kindOf, kinds, NANOS_MAX } from "./kind.ts";
import type { Points } from "./points.ts";
import { copyBytes } from "./slab.ts";

const HAS_STEPS = 4;
const HAS_TIMES = 8;
const HAS_NANOS = 16;
const NUMBER = kinds.indexOf("number");
const VERSION_MASK = 0xe0; // zero in this version of the format

/** A length below this is one byte; this byte itself announces a length of four bytes. */
const LENGTH_IS_LONG = 255;
const SMALL_COUNT_MAX = 6; // 6 * (8 step + 8 time + 2 nanos + 8 value) and the rest are below 255 bytes

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
    if (nanos !== undefined) writer.copy(nanos);
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

/** Afterwards the reader is behind the block. The arrays belong to the caller, but short ones share a buffer. */
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

const CAPACITY_MIN = 4096;

/**
 * Joins blocks of numbers without an object or array for each: columns that grow and are used again.
 * Where one block follows another as envelopes of a few points do, that is most of the cost of reading.
 */
export class NumberColumns {
  count = 0;
  steps = new Float64Array(CAPACITY_MIN);
  times = new Float64Array(CAPACITY_MIN);
  values = new Float64Array(CAPACITY_MIN);
  #valueBytes = new Uint8Array(this.values.buffer);
  #columns = -1;

  clear(): void {
    this.count = 0;
    this.#columns = -1;
  }

  /**
   * Takes the block at the reader in behind the others and moves past it. False, and nothing has
   * changed, for a block that is not of numbers, has nanos, or has other columns than those here.
   */
  add(reader: ByteReader): boolean {
    const start = reader.position;
    const end = readLength(reader);
    const head = reader.u8();
    const fits = this.#columns < 0 || this.#columns === head;
    if ((head & 3) !== NUMBER || (head & HAS_NANOS) !== 0 || !fits) {
      reader.position = start;
      return false;
    }
    const count = readCount(reader, head, end);
    if (count * 8 > end - reader.position) throw malformed("it is shorter than its count");
    this.#reserve(count);
    const from = this.count;
    if ((head & HAS_STEPS) !== 0) readColumnInto(reader, this.steps, from, count);
    if ((head & HAS_TIMES) !== 0) readColumnInto(reader, this.times, from, count);
    const at = reader.skip(count * 8);
    if (reader.position !== end) throw malformed("it does not end where it says");
    copyBytes(reader.bytes, at, at + count * 8, this.#valueBytes, from * 8);
    this.#columns = head;
    this.count = from + count;
    return true;
  }

  /** A view of the content, valid until the next change. */
  points(): Points {
    const { count } = this;
    return {
      count,
      steps: (this.#columns & HAS_STEPS) === 0 ? undefined : this.steps.subarray(0, count),
      times: (this.#columns & HAS_TIMES) === 0 ? undefined : this.times.subarray(0, count),
      nanos: undefined,
      values: { kind: "number", data: this.values.subarray(0, count) },
    };
  }

  /** What is here, in arrays of its own; nothing is left. */
  take(): Points {
    const { count, steps, times, values } = this.points();
    this.clear();
    const data = (values.data as Float64Array).slice();
    return {
      count,
      steps: steps?.slice(),
      times: times?.slice(),
      nanos: undefined,
      values: { kind: "number", data },
    };
  }

  #reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.values.length) return;
    const capacity = Math.max(needed, this.values.length * 2);
    const grow = (column: Float64Array) => {
      const grown = new Float64Array(capacity);
      grown.set(column.subarray(0, this.count));
      return grown;
    };
    this.steps = grow(this.steps);
    this.times = grow(this.times);
    this.values = grow(this.values);
    this.#valueBytes = new Uint8Array(this.values.buffer);
  }
}

/** Moves behind the block without looking into it. */
export function skipBlock(reader: ByteReader): void {
  reader.position = readLength(reader);
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
  for (const nano of nanos) if (nano > NANOS_MAX) throw malformed(`"${nano}" is not a nanosecond`);
  return nanos;
}

function malformed(cause: string): CodecError {
  return new CodecError(`cannot read block: ${cause}`);
}
