/**
 * A column of steps or times in the log: integers of -2^53 to 2^53.
 *
 * Steps mostly rise by the same stride and times nearly so, which makes the second difference small:
 * 100, 110, 120, 131 is 100, then +10, then 0, 1. Each is written as a zigzag varint. Doubles hold
 * all first and second differences exactly as long as the column spans less than 2^52 (a second
 * difference is at most twice the span); a wider column is written as doubles instead.
 */
import type { ByteReader } from "./byte-reader.ts";
import { INTEGER_MAX, type ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { copyDoubles, takeDoubles } from "./slab.ts";

const STRIDE = 0;
const DIFFERENCES = 1;
const THOUSANDS = 2; // differences divided by 1000: many clients send milliseconds
const DOUBLES = 3;

const SPAN_MAX = 2 ** 52;
const VARINT_BYTES_MAX = 8;

/** A column of one has no form byte, a column of none no bytes at all. */
export function writeColumn(writer: ByteWriter, column: Float64Array): void {
  if (column.length < 2) {
    if (column.length === 1) writer.zigzag(column[0]!);
    return;
  }
  const form = chooseForm(column);
  writer.u8(form);
  if (form === DOUBLES) {
    writer.copy(column);
    return;
  }
  writer.zigzag(column[0]!);
  writer.zigzag(column[1]! - column[0]!);
  if (form !== STRIDE) writeDifferences(writer, column, form === THOUSANDS ? 0.001 : 1);
}

export function readColumn(reader: ByteReader, count: number): Float64Array {
  const column = takeDoubles(count);
  readColumnInto(reader, column, 0, count);
  return column;
}

/** Reads into `column` from `from` on. */
export function readColumnInto(reader: ByteReader, column: Float64Array, from: number, count: number): void {
  if (count < 2) {
    if (count === 1) column[from] = reader.zigzag();
    return;
  }
  const form = reader.u8();
  if (form === DOUBLES) readDoubles(reader, column, from, count);
  else if (form === STRIDE) readStride(reader, column, from, count);
  else if (form === DIFFERENCES) readDifferences(reader, column, from, count, 1);
  else if (form === THOUSANDS) readDifferences(reader, column, from, count, 1000);
  else throw new CodecError(`cannot read column: unknown form ${form}`);
}

function chooseForm(column: Float64Array): number {
  const count = column.length;
  let previous = column[0]!;
  const stride = column[1]! - previous;
  let min = previous;
  let max = previous;
  let integers = previous === Math.floor(previous);
  let even = true;
  let thousands = true;
  for (let i = 1; i < count; i++) {
    const value = column[i]!;
    const delta = value - previous;
    if (value !== Math.floor(value)) integers = false;
    if (value < min) min = value;
    if (value > max) max = value;
    if (delta !== stride) even = false;
    if (thousands && Math.round(delta * 0.001) * 1000 !== delta) thousands = false;
    previous = value;
  }
  if (!integers || min < -INTEGER_MAX || max > INTEGER_MAX) {
    throw new CodecError("cannot write column: not all are integers of -2^53 to 2^53");
  }
  if (max - min >= SPAN_MAX) return DOUBLES;
  if (even) return STRIDE;
  return thousands ? THOUSANDS : DIFFERENCES;
}

function writeDifferences(writer: ByteWriter, column: Float64Array, scale: number): void {
  const count = column.length;
  const bytes = writer.reserve((count - 2) * VARINT_BYTES_MAX);
  let at = writer.length;
  let previous = column[1]!;
  let previousDelta = previous - column[0]!;
  for (let i = 2; i < count; i++) {
    const value = column[i]!;
    const delta = value - previous;
    const second = Math.round((delta - previousDelta) * scale);
    previous = value;
    previousDelta = delta;
    const small = second | 0;
    if (small === second) {
      let rest = (small << 1) ^ (small >> 31);
      while (rest >>> 0 > 127) {
        bytes[at++] = rest | 128;
        rest >>>= 7;
      }
      bytes[at++] = rest;
    } else {
      writer.length = at;
      writer.zigzag(second);
      at = writer.length;
    }
  }
  writer.length = at;
}

function readDifferences(
  reader: ByteReader,
  column: Float64Array,
  from: number,
  count: number,
  unit: number,
): void {
  const { bytes, end } = reader;
  let value = reader.zigzag();
  let delta = reader.zigzag();
  column[from] = value;
  value += delta;
  column[from + 1] = value;
  let min = value;
  let max = value;
  let at = reader.position;
  for (let i = 2; i < count; i++) {
    // Up to three bytes are read here, which is nearly always enough.
    if (at + 2 < end) {
      let rest = bytes[at]!;
      let size = 1;
      if (rest > 127) {
        rest = (rest & 127) | (bytes[at + 1]! << 7);
        size = 2;
        if (rest > 16383) {
          rest = (rest & 16383) | (bytes[at + 2]! << 14);
          size = 3;
        }
      }
      if (rest < 2097152) {
        at += size;
        delta += ((rest >>> 1) ^ -(rest & 1)) * unit;
        value += delta;
        if (value < min) min = value;
        if (value > max) max = value;
        column[from + i] = value;
        continue;
      }
    }
    reader.position = at;
    delta += reader.zigzag() * unit;
    at = reader.position;
    value += delta;
    if (value < min) min = value;
    if (value > max) max = value;
    column[from + i] = value;
  }
  reader.position = at;
  if (!(min >= -INTEGER_MAX && max <= INTEGER_MAX)) throw tooWide();
}

function readStride(reader: ByteReader, column: Float64Array, from: number, count: number): void {
  const first = reader.zigzag();
  const stride = reader.zigzag();
  const reach = stride * (count - 1);
  if (Math.abs(reach) > INTEGER_MAX || Math.abs(first + reach) > INTEGER_MAX) throw tooWide();
  for (let i = 0; i < count; i++) column[from + i] = first + i * stride;
}

function readDoubles(reader: ByteReader, column: Float64Array, from: number, count: number): void {
  column.set(copyDoubles(reader.bytes, reader.skip(count * 8), count), from);
  for (let i = from; i < from + count; i++) {
    const value = column[i]!;
    if (!(Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX)) throw tooWide();
  }
}

function tooWide(): CodecError {
  return new CodecError("cannot read column: not all are integers of -2^53 to 2^53");
}
