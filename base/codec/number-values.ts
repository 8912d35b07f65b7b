import type { ByteReader } from "./byte-reader.ts";
import { CodecError } from "./error.ts";
import { decodeIntegers, encodeIntegers, rangeOf } from "./integer-column.ts";
import type { PlaneWriter } from "./planes.ts";
import { findScale, unscale } from "./scale.ts";
import { floatScratch, integerScratch, wordScratch } from "./scratch.ts";
import { decodeWordPair, decodeWords, encodeWords, planWords } from "./words.ts";

const CONSTANT = 0; // the 8 bytes of all of them
const SCALED = 1; // scale code, integer column
const FLOAT32 = 2; // words
const FLOAT64 = 3; // low words, high words

// The only NaN that is sure to survive a float32.
const NAN_LOW = 0;
const NAN_HIGH = 0x7ff80000;

/** Writes `data.length` > 0 numbers in the first form that holds the bits of all of them. */
export function encodeNumbers(writer: PlaneWriter, data: Float64Array): void {
  // Bits are compared and copied as words, because a NaN that passes through a number may lose them.
  const bits = new Int32Array(data.buffer, data.byteOffset, data.length * 2);
  if (isConstant(bits)) {
    writer.head.u8(CONSTANT);
    writer.head.copy(data.subarray(0, 1));
    return;
  }
  const scale = findScale(data, integerScratch);
  if (scale !== undefined) {
    writer.head.u8(SCALED);
    writer.head.u8(scale);
    const range = rangeOf(integerScratch.subarray(0, data.length));
    if (encodeIntegers(writer, integerScratch, data.length, range, { anchor: 0, steady: false })) return;
    writer.head.length -= 2;
  }
  const [low, high] = wordScratch;
  if (toFloats(data, bits)) {
    writer.head.u8(FLOAT32);
    encodeWords(writer, low, data.length, planWords(low, data.length, true));
    return;
  }
  for (let i = 0; i < data.length; i++) {
    low[i] = bits[i * 2]!;
    high[i] = bits[i * 2 + 1]!;
  }
  writer.head.u8(FLOAT64);
  encodeWords(writer, low, data.length, planWords(low, data.length));
  encodeWords(writer, high, data.length, planWords(high, data.length, true));
}

/** Into `data`, which has `count` entries from the beginning of its buffer on. */
export function decodeNumbers(reader: ByteReader, count: number, data: Float64Array): Float64Array {
  const form = reader.u8();
  if (form === CONSTANT) {
    const first = reader.take(8);
    if (reader.remaining > 0) throw new CodecError("cannot decode numbers: bytes are left over");
    const bytes = new Uint8Array(data.buffer, 0, count * 8);
    bytes.set(first);
    for (let done = 8; done < bytes.length; done *= 2) bytes.copyWithin(done, 0, done);
  } else if (form === SCALED) {
    const scale = reader.u8();
    decodeIntegers(reader, integerScratch, count, 0);
    unscale(scale, integerScratch, data);
  } else if (form === FLOAT32) {
    decodeWords(reader, count, wordScratch[0]);
    for (let i = 0; i < count; i++) data[i] = floatScratch[i]!;
  } else if (form === FLOAT64) {
    const [low, high] = wordScratch;
    decodeWordPair(reader, count, low, high);
    const bits = new Int32Array(data.buffer);
    for (let i = 0; i < count; i++) {
      bits[i * 2] = low[i]!;
      bits[i * 2 + 1] = high[i]!;
    }
  } else throw new CodecError(`cannot decode numbers: unknown form ${form}`);
  return data;
}

function isConstant(bits: Int32Array): boolean {
  for (let i = 2; i < bits.length; i += 2) {
    if (bits[i] !== bits[0] || bits[i + 1] !== bits[1]) return false;
  }
  return true;
}

/** Leaves the float32 bits of all numbers in the first word scratch, or returns false. */
function toFloats(data: Float64Array, bits: Int32Array): boolean {
  for (let i = 0; i < data.length; i++) {
    const number = data[i]!;
    floatScratch[i] = number;
    if (Math.fround(number) === number) continue;
    if (number === number || bits[i * 2] !== NAN_LOW || bits[i * 2 + 1] !== NAN_HIGH) return false;
  }
  return true;
}
