import { crc32 } from "node:zlib";
import { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import type { Range } from "./integer-column.ts";
import { kindOf, kinds, type Kind } from "./kind.ts";

const CHUNK_VERSION = 1;

const MAGIC = [0x43, 0x6b]; // Ck
const CRC_AT = 3;
const BODY_AT = 7;

const HAS_STEPS = 4;
const HAS_TIMES = 8;
const HAS_NANOS = 16;
const ONE_STEP = 32; // stepMax is left out, because it equals stepMin
const ONE_TIME = 64;
const RESERVED = 128;

/** Ranges are undefined where the column is absent or empty. */
export interface ChunkHeader {
  readonly version: number;
  readonly kind: Kind;
  readonly count: number;
  readonly stepMin: number | undefined;
  readonly stepMax: number | undefined;
  readonly timeMin: number | undefined;
  readonly timeMax: number | undefined;
}

/** Which columns a chunk has, and the range of steps and times when it has points. */
export interface ChunkColumns {
  readonly kind: Kind;
  readonly count: number;
  readonly steps: Range | undefined;
  readonly times: Range | undefined;
  readonly nanos: boolean;
}

/** Begins a chunk; `sealChunk` ends it. */
export function writeHeader(writer: ByteWriter, columns: ChunkColumns): void {
  const { kind, count, steps, times } = columns;
  writer.u8(MAGIC[0]!);
  writer.u8(MAGIC[1]!);
  writer.u8(CHUNK_VERSION);
  writer.u32(0);
  writer.u8(
    kinds.indexOf(kind) |
      (steps === undefined ? 0 : HAS_STEPS | (steps.min === steps.max ? ONE_STEP : 0)) |
      (times === undefined ? 0 : HAS_TIMES | (times.min === times.max ? ONE_TIME : 0)) |
      (columns.nanos ? HAS_NANOS : 0),
  );
  writer.u8(count);
  writer.u8(count >>> 8);
  if (count === 0) return;
  if (steps !== undefined) writeRange(writer, steps);
  if (times !== undefined) writeRange(writer, times);
}

/** Writes the checksum of everything behind it. The writer must hold nothing but the chunk. */
export function sealChunk(writer: ByteWriter): void {
  const end = writer.length;
  const sum = crc32(writer.written().subarray(BODY_AT));
  writer.length = CRC_AT;
  writer.u32(sum);
  writer.length = end;
}

/** Checks the checksum of the whole chunk and leaves the reader behind the header. */
export function openHeader(reader: ByteReader): ChunkColumns {
  const { bytes } = reader;
  if (bytes.length < BODY_AT || bytes[0] !== MAGIC[0] || bytes[1] !== MAGIC[1]) {
    throw new CodecError("cannot read chunk: it does not begin like one");
  }
  if (bytes[2] !== CHUNK_VERSION) {
    throw new CodecError(
      `cannot read chunk: version ${bytes[2]} is unknown, this program knows ${CHUNK_VERSION}`,
    );
  }
  reader.position = CRC_AT;
  if (reader.u32() !== crc32(bytes.subarray(BODY_AT))) {
    throw new CodecError("cannot read chunk: its checksum does not match");
  }
  const head = reader.u8();
  if ((head & RESERVED) !== 0) throw new CodecError("cannot read chunk: a reserved bit is set");
  const count = reader.u8() | (reader.u8() << 8);
  const steps = (head & HAS_STEPS) === 0 ? undefined : readRange(reader, count, (head & ONE_STEP) !== 0);
  const times = (head & HAS_TIMES) === 0 ? undefined : readRange(reader, count, (head & ONE_TIME) !== 0);
  return { kind: kindOf(head & 3), count, steps, times, nanos: (head & HAS_NANOS) !== 0 };
}

/** Verifies the checksum of the whole chunk as well. */
export function readChunkHeader(bytes: Uint8Array): ChunkHeader {
  const { kind, count, steps, times } = openHeader(new ByteReader(bytes));
  const stepRange = count === 0 ? undefined : steps;
  const timeRange = count === 0 ? undefined : times;
  return {
    version: CHUNK_VERSION,
    kind,
    count,
    stepMin: stepRange?.min,
    stepMax: stepRange?.max,
    timeMin: timeRange?.min,
    timeMax: timeRange?.max,
  };
}

function writeRange(writer: ByteWriter, range: Range): void {
  writer.zigzag(range.min);
  if (range.max !== range.min) writer.zigzag(range.max);
}

function readRange(reader: ByteReader, count: number, one: boolean): Range {
  if (count === 0) return { min: Infinity, max: -Infinity };
  const min = reader.zigzag();
  return { min, max: one ? min : reader.zigzag() };
}
