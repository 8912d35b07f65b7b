/**
 * The resting form of up to 65,535 points of one series, in the order they arrived. A header with a
 * checksum, then one part per column, each compressed on its own, so that a reader pays only for the
 * columns it wants. docs/formats/chunk.md is the exact layout.
 */
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { openHeader, sealChunk, writeHeader } from "./chunk-header.ts";
import { decodeValues, encodeValues, noValues } from "./chunk-values.ts";
import { CodecError } from "./error.ts";
import { decodeIntegers, encodeIntegers, encodeWideIntegers, rangeOf, type Range } from "./integer-column.ts";
import { checkColumns, NANOS_MAX } from "./kind.ts";
import { PlaneWriter } from "./planes.ts";
import type { Points } from "./points.ts";
import { CHUNK_POINTS_MAX, wordScratch } from "./scratch.ts";
import { decodeWords, encodeWords, planWords } from "./words.ts";

export { readChunkHeader } from "./chunk-header.ts";
export { CHUNK_POINTS_MAX } from "./scratch.ts";
export { CHUNK_TEXT_BYTES_MAX } from "./text-values.ts";

/** The columns to decode; one that is not named is not wanted. Nanos come with times. */
export interface ChunkWant {
  readonly steps?: boolean;
  readonly times?: boolean;
  readonly values?: boolean;
  /**
   * Steps, times and numbers are views of buffers that the next such call overwrites. Fresh memory for
   * each chunk costs more than half of the decoding when a million points are read once.
   */
  readonly reuse?: boolean;
}

const EVERYTHING: ChunkWant = { steps: true, times: true, values: true };

type NewColumn = (count: number) => Float64Array;

const fresh: NewColumn = (count) => new Float64Array(count);
const FRESH = { steps: fresh, times: fresh, values: fresh };
const REUSED = { steps: reused(), times: reused(), values: reused() };

function reused(): NewColumn {
  let buffer = new Float64Array(0);
  return (count) => {
    if (buffer.length < count) buffer = new Float64Array(count);
    return buffer.subarray(0, count);
  };
}

const writer = new ByteWriter(1 << 16);
const planes = new PlaneWriter();
const part = new ByteWriter(1 << 16);

/**
 * Of the chunk that is being encoded. As two objects made in `encodeChunk` the compiler of Node 24.21 took one for the other, once
 * in some 100,000 chunks.
 */
const ranges = { steps: { min: 0, max: 0 }, times: { min: 0, max: 0 } };

/**
 * The caller owns the result, which is all of its ArrayBuffer. Throws CodecError when the columns do
 * not fit each other, a step or time is not an integer of at most 2^53, there are more than
 * CHUNK_POINTS_MAX points or more than CHUNK_TEXT_BYTES_MAX bytes of text.
 */
export function encodeChunk(points: Points): Uint8Array<ArrayBuffer> {
  const { count, steps, times, nanos, values } = points;
  if (count > CHUNK_POINTS_MAX) throw new CodecError(`cannot encode chunk: ${count} points are too many`);
  checkColumns(points);
  const stepRange = steps && Object.assign(ranges.steps, rangeOf(steps));
  const timeRange = times && Object.assign(ranges.times, rangeOf(times));
  writer.reset();
  planes.reset();
  writeHeader(writer, {
    kind: values.kind,
    count,
    steps: stepRange,
    times: timeRange,
    nanos: nanos !== undefined,
  });
  if (steps !== undefined) writeIntegerPart(steps, stepRange!);
  if (times !== undefined) writeIntegerPart(times, timeRange!);
  if (nanos !== undefined) writeNanoPart(nanos);
  if (count > 0) encodeValues(planes, writer, values);
  sealChunk(writer);
  return writer.finish();
}

/**
 * What was encoded, bit for bit, in new arrays that belong to the caller. A column that was not wanted
 * is undefined, values that were not wanted have no entries. Throws CodecError for anything that
 * encodeChunk did not write; memory is bounded by the count, for texts by CHUNK_TEXT_BYTES_MAX.
 */
export function decodeChunk(bytes: Uint8Array, want: ChunkWant = EVERYTHING): Points {
  const reader = new ByteReader(bytes);
  const { kind, count, steps, times, nanos } = openHeader(reader);
  const stepPart = steps === undefined ? undefined : readPart(reader);
  const timePart = times === undefined ? undefined : readPart(reader);
  const nanoPart = nanos ? readPart(reader) : undefined;
  if (count === 0 && reader.remaining > 0) throw new CodecError("cannot decode chunk: bytes are left over");
  const columns = want.reuse === true ? REUSED : FRESH;
  return {
    count,
    steps:
      stepPart && want.steps === true ? decodeIntegerPart(stepPart, columns.steps(count), steps!) : undefined,
    times:
      timePart && want.times === true ? decodeIntegerPart(timePart, columns.times(count), times!) : undefined,
    nanos: nanoPart && want.times === true ? decodeNanoPart(nanoPart, count) : undefined,
    values:
      want.values === true && count > 0 ? decodeValues(reader, kind, count, columns.values) : noValues(kind),
  };
}

function writeIntegerPart(column: Float64Array, range: Range): void {
  part.reset();
  const count = column.length;
  if (count > 0) {
    const options = { anchor: range.min, steady: true };
    if (!encodeIntegers(planes, column, count, range, options)) encodeWideIntegers(planes, column, count);
    planes.flush(part);
  }
  writePart();
}

function decodeIntegerPart(reader: ByteReader, column: Float64Array, range: Range): Float64Array {
  const count = column.length;
  if (count === 0) return column;
  const isStride = decodeIntegers(reader, column, count, range.min);
  const decoded = rangeOf(isStride ? Float64Array.of(column[0]!, column[count - 1]!) : column);
  if (decoded.min !== range.min || decoded.max !== range.max) {
    throw new CodecError("cannot decode chunk: a column is not what the header says");
  }
  return column;
}

function writeNanoPart(nanos: Uint16Array): void {
  part.reset();
  const words = wordScratch[0];
  words.set(nanos);
  encodeWords(planes, words, nanos.length, planWords(words, nanos.length));
  planes.flush(part);
  writePart();
}

function decodeNanoPart(reader: ByteReader, count: number): Uint16Array {
  const words = wordScratch[0];
  decodeWords(reader, count, words);
  const nanos = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const nano = words[i]!;
    if (nano < 0 || nano > NANOS_MAX)
      throw new CodecError(`cannot decode chunk: "${nano}" is not a nanosecond`);
    nanos[i] = nano;
  }
  return nanos;
}

function writePart(): void {
  writer.varint(part.length);
  writer.copy(part.written());
}

function readPart(reader: ByteReader): ByteReader {
  const size = reader.varint();
  const start = reader.skip(size);
  return new ByteReader(reader.bytes, start, start + size);
}
