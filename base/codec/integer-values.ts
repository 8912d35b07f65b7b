import type { ByteReader } from "./byte-reader.ts";
import { CodecError } from "./error.ts";
import { decodeIntegers, encodeIntegers, rangeOf } from "./integer-column.ts";
import type { PlaneWriter } from "./planes.ts";
import { integerScratch, wordScratch } from "./scratch.ts";
import { decodeWordPair, encodeWords, planWords } from "./words.ts";

const SAFE = 0; // integer column
const INT64 = 1; // low words, high words

// An integer with such a high word is one of -2^53 up to, but not including, 2^53.
const SAFE_HIGH_MIN = -(2 ** 21);
const SAFE_HIGH_MAX = 2 ** 21 - 1;

/** Writes `data.length` > 0 integers. All goes by words: arithmetic with bigints would be many times slower. */
export function encodeInt64s(writer: PlaneWriter, data: BigInt64Array): void {
  const count = data.length;
  const words = new Int32Array(data.buffer, data.byteOffset, count * 2);
  let safe = true;
  for (let i = 0; i < count; i++) {
    const high = words[i * 2 + 1]!;
    if (high < SAFE_HIGH_MIN || high > SAFE_HIGH_MAX) safe = false;
    integerScratch[i] = high * 2 ** 32 + (words[i * 2]! >>> 0);
  }
  if (safe) {
    writer.head.u8(SAFE);
    const range = rangeOf(integerScratch.subarray(0, count));
    if (encodeIntegers(writer, integerScratch, count, range, { anchor: 0, steady: false })) return;
    writer.head.length--;
  }
  const [low, high] = wordScratch;
  for (let i = 0; i < count; i++) {
    low[i] = words[i * 2]!;
    high[i] = words[i * 2 + 1]!;
  }
  writer.head.u8(INT64);
  encodeWords(writer, low, count, planWords(low, count));
  encodeWords(writer, high, count, planWords(high, count));
}

export function decodeInt64s(reader: ByteReader, count: number): BigInt64Array {
  const data = new BigInt64Array(count);
  const words = new Int32Array(data.buffer);
  const form = reader.u8();
  if (form === SAFE) {
    decodeIntegers(reader, integerScratch, count, 0);
    for (let i = 0; i < count; i++) {
      const integer = integerScratch[i]!;
      words[i * 2] = integer;
      words[i * 2 + 1] = Math.floor(integer / 2 ** 32);
    }
  } else if (form === INT64) {
    const [low, high] = wordScratch;
    decodeWordPair(reader, count, low, high);
    for (let i = 0; i < count; i++) {
      words[i * 2] = low[i]!;
      words[i * 2 + 1] = high[i]!;
    }
  } else throw new CodecError(`cannot decode integers: unknown form ${form}`);
  return data;
}
