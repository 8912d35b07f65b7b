import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { packBits, unpackBits } from "./bits.ts";
import { CodecError } from "./error.ts";
import type { Kind } from "./kind.ts";
import type { Values } from "./points.ts";
import { copyDoubles } from "./slab.ts";

// Text that has no UTF-8, because it holds half of a surrogate pair, is kept as UTF-16.
const UTF8 = 0;
const UTF16 = 1;

// Arrays of up to 64 bytes live on the JavaScript heap, and asking for a view of their bytes moves them
// off it, which costs more than such a block. They go through here: `set` and `slice` between doubles
// are copies of bytes, so the bits of a NaN are kept.
const SMALL_COUNT_MAX = 8;
const scratch = new Float64Array(SMALL_COUNT_MAX);
const scratchBytes = new Uint8Array(scratch.buffer);

export function writeValues(writer: ByteWriter, values: Values): void {
  switch (values.kind) {
    case "number":
      writeNumbers(writer, values.data);
      break;
    case "integer":
      writer.copy(values.data);
      break;
    case "bool":
      packBits(writer, values.data);
      break;
    case "text":
      writeTexts(writer, values.data);
      break;
  }
}

export function readValues(reader: ByteReader, kind: Kind, count: number): Values {
  switch (kind) {
    case "number":
      return { kind, data: readNumbers(reader, count) };
    case "integer": {
      const data = new BigInt64Array(count);
      new Uint8Array(data.buffer).set(reader.take(count * 8));
      return { kind, data };
    }
    case "bool":
      return { kind, data: unpackBits(reader.take(Math.ceil(count / 8)), count) };
    case "text":
      return { kind, data: readTexts(reader, count) };
  }
}

/** So many bytes `count` values have at least. */
export function valueBytesMin(kind: Kind, count: number): number {
  switch (kind) {
    case "number":
    case "integer":
      return count * 8;
    case "bool":
      return count / 8;
    case "text":
      return count;
  }
}

function writeNumbers(writer: ByteWriter, data: Float64Array): void {
  if (data.length > SMALL_COUNT_MAX) {
    writer.copy(data);
    return;
  }
  scratch.set(data);
  const size = data.length * 8;
  const bytes = writer.reserve(size);
  const at = writer.length;
  for (let i = 0; i < size; i++) bytes[at + i] = scratchBytes[i]!;
  writer.length = at + size;
}

function readNumbers(reader: ByteReader, count: number): Float64Array {
  return copyDoubles(reader.bytes, reader.skip(count * 8), count);
}

function writeTexts(writer: ByteWriter, texts: readonly string[]): void {
  if (texts.length === 0) return;
  if (texts.every((text) => text.isWellFormed())) {
    writer.u8(UTF8);
    for (const text of texts) writer.text(text);
    return;
  }
  writer.u8(UTF16);
  for (const text of texts) {
    writer.varint(text.length * 2);
    writer.copy(Buffer.from(text, "utf16le"));
  }
}

function readTexts(reader: ByteReader, count: number): string[] {
  if (count === 0) return [];
  const form = reader.u8();
  if (form !== UTF8 && form !== UTF16) throw new CodecError(`cannot read texts: unknown form ${form}`);
  const texts: string[] = [];
  for (let i = 0; i < count; i++) texts.push(form === UTF8 ? reader.text() : readUtf16(reader));
  return texts;
}

function readUtf16(reader: ByteReader): string {
  const size = reader.varint();
  if (size % 2 !== 0) throw new CodecError("cannot read text: half a UTF-16 unit");
  const bytes = reader.take(size);
  return Buffer.from(bytes.buffer, bytes.byteOffset, size).toString("utf16le");
}
