import { ByteReader, decodeUtf8 } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import type { PlaneWriter } from "./planes.ts";
import { wordScratch } from "./scratch.ts";
import { decodeWords, encodeWords, planWords } from "./words.ts";
import { pack, unpack } from "./pack.ts";

/** The most bytes of text that one chunk takes, so that a reader knows what to expect. */
export const CHUNK_TEXT_BYTES_MAX = 64 << 20;

const UTF8 = 0;
const UTF16 = 1; // for texts that have no UTF-8, because they hold half of a surrogate pair

/** The texts run together, after their lengths in UTF-16 units: decoding all at once is much faster. */
export function encodeTexts(planes: PlaneWriter, writer: ByteWriter, texts: readonly string[]): void {
  const lengths = wordScratch[0];
  let units = 0;
  for (let i = 0; i < texts.length; i++) {
    lengths[i] = texts[i]!.length;
    units += texts[i]!.length;
  }
  const form = texts.every((text) => text.isWellFormed()) ? UTF8 : UTF16;
  // Every unit takes a byte at least, and some sums of units are too long for one string.
  const bytes = units > CHUNK_TEXT_BYTES_MAX ? undefined : toBytes(texts.join(""), form);
  if (bytes === undefined || bytes.length > CHUNK_TEXT_BYTES_MAX) {
    throw new CodecError(`cannot encode texts: more than ${CHUNK_TEXT_BYTES_MAX} bytes`);
  }
  encodeWords(planes, lengths, texts.length, planWords(lengths, texts.length));
  writer.u8(form);
  const sizeAt = writer.length;
  writer.u32(0);
  const start = writer.length;
  planes.flush(writer);
  const end = writer.length;
  writer.length = sizeAt;
  writer.u32(end - start);
  writer.length = end;
  writer.varint(bytes.length);
  writer.copy(pack(bytes));
}

export function decodeTexts(reader: ByteReader, count: number): string[] {
  const form = reader.u8();
  const lengthsReader = new ByteReader(reader.take(reader.u32()));
  const size = reader.varint();
  if (size > CHUNK_TEXT_BYTES_MAX)
    throw new CodecError(`cannot decode texts: more than ${CHUNK_TEXT_BYTES_MAX} bytes`);
  const all = toText(form, unpack(reader.take(reader.remaining), size));
  const lengths = wordScratch[0];
  decodeWords(lengthsReader, count, lengths);
  const texts: string[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const length = lengths[i]!;
    if (length < 0 || length > all.length - at) {
      throw new CodecError("cannot decode texts: a length is beyond the end");
    }
    texts.push(all.slice(at, at + length));
    at += length;
  }
  if (at !== all.length) throw new CodecError("cannot decode texts: bytes are left over");
  return texts;
}

function toBytes(text: string, form: number): Buffer {
  return Buffer.from(text, form === UTF8 ? "utf8" : "utf16le");
}

function toText(form: number, bytes: Uint8Array): string {
  if (form === UTF8) return decodeUtf8(bytes);
  if (form !== UTF16 || bytes.length % 2 !== 0) throw new CodecError("cannot decode texts: unknown form");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf16le");
}
