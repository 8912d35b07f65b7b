/**
 * A column of integers of -2^53 to 2^53 held in doubles: steps, times, and numbers that are whole
 * after scaling. It is turned into words by taking differences, from the first entry or from the one
 * before, and dividing them by what all of them have in common, such as 1000 for times that came in
 * milliseconds.
 */
import type { ByteReader } from "./byte-reader.ts";
import { INTEGER_MAX } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import type { PlaneWriter } from "./planes.ts";
import { wordScratch } from "./scratch.ts";
import { decodeWordPair, decodeWords, encodeWords, planWords } from "./words.ts";

const STRIDE = 0; // first, stride
const FROM_FIRST = 1; // first, divisor, a word for each but the first
const FROM_LAST = 2; // the same, each from the one before
const WIDE = 3; // low words, high words

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Throws CodecError unless all are integers of -2^53 to 2^53. Of an empty column, min is above max. */
export function rangeOf(column: Float64Array): Range {
  let min = Infinity;
  let max = -Infinity;
  let integers = true;
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    if (value !== Math.floor(value)) integers = false;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (!integers || min < -INTEGER_MAX || max > INTEGER_MAX) {
    throw new CodecError("cannot take column: not all are integers of -2^53 to 2^53");
  }
  return { min, max };
}

export interface IntegerOptions {
  /** What the reader knows already; the first entry is written relative to it. */
  readonly anchor: number;
  /** Whether the entries rise or fall steadily, so that only differences from the one before can be small. */
  readonly steady: boolean;
}

/**
 * Writes `count` > 0 integers that lie in `range`. Returns false, having written nothing, when only
 * two words per entry could hold them.
 */
export function encodeIntegers(
  writer: PlaneWriter,
  column: Float64Array,
  count: number,
  range: Range,
  options: IntegerOptions,
): boolean {
  const first = column[0]!;
  const start = first - options.anchor;
  // Then all differences below are exact in doubles.
  if (!(range.max - range.min < INTEGER_MAX && Math.abs(start) < INTEGER_MAX)) return false;
  const stride = strideOf(column, count);
  if (stride !== undefined) {
    writer.head.u8(STRIDE);
    writer.head.zigzag(start);
    writer.head.zigzag(stride);
    return true;
  }
  const divisor = divisorOf(column, count);
  const [fromLast, fromFirst] = wordScratch;
  const lastFits = differences(fromLast, column, count, 1 / divisor, true);
  const firstFits = !options.steady && differences(fromFirst, column, count, 1 / divisor, false);
  if (!lastFits && !firstFits) return false;
  const lastPlan = lastFits ? planWords(fromLast, count - 1) : undefined;
  const firstPlan = firstFits ? planWords(fromFirst, count - 1) : undefined;
  const useFirst = firstPlan !== undefined && (lastPlan === undefined || firstPlan.bits <= lastPlan.bits);
  writer.head.u8(useFirst ? FROM_FIRST : FROM_LAST);
  writer.head.zigzag(start);
  writer.head.varint(divisor);
  encodeWords(writer, useFirst ? fromFirst : fromLast, count - 1, (useFirst ? firstPlan : lastPlan)!);
  return true;
}

/** For any integers, at up to 8 bytes each. */
export function encodeWideIntegers(writer: PlaneWriter, column: Float64Array, count: number): void {
  const [low, high] = wordScratch;
  for (let i = 0; i < count; i++) {
    low[i] = column[i]!;
    high[i] = Math.floor(column[i]! / 2 ** 32);
  }
  writer.head.u8(WIDE);
  encodeWords(writer, low, count, planWords(low, count));
  encodeWords(writer, high, count, planWords(high, count));
}

/**
 * Fills the first `count` > 0 entries of `column` and takes everything that is left in the reader.
 * Returns whether they rise or fall by one stride.
 */
export function decodeIntegers(
  reader: ByteReader,
  column: Float64Array,
  count: number,
  anchor: number,
): boolean {
  const form = reader.u8();
  if (form === WIDE) {
    decodeWide(reader, column, count);
    return false;
  }
  const first = anchor + reader.zigzag();
  if (form === STRIDE) {
    const stride = reader.zigzag();
    if (reader.remaining > 0) throw new CodecError("cannot read integers: bytes are left over");
    for (let i = 0; i < count; i++) column[i] = first + i * stride;
    return true;
  }
  if (form !== FROM_FIRST && form !== FROM_LAST) {
    throw new CodecError(`cannot read integers: unknown form ${form}`);
  }
  const divisor = reader.varint();
  const words = wordScratch[0];
  decodeWords(reader, count - 1, words);
  column[0] = first;
  if (form === FROM_FIRST) {
    for (let i = 1; i < count; i++) column[i] = first + words[i - 1]! * divisor;
  } else {
    let value = first;
    for (let i = 1; i < count; i++) column[i] = value += words[i - 1]! * divisor;
  }
  return false;
}

function decodeWide(reader: ByteReader, column: Float64Array, count: number): void {
  const [low, high] = wordScratch;
  decodeWordPair(reader, count, low, high);
  for (let i = 0; i < count; i++) column[i] = high[i]! * 2 ** 32 + (low[i]! >>> 0);
}

function strideOf(column: Float64Array, count: number): number | undefined {
  const stride = count === 1 ? 0 : column[1]! - column[0]!;
  for (let i = 1; i < count; i++) if (column[i]! - column[i - 1]! !== stride) return undefined;
  return stride;
}

/** The greatest common divisor of all differences. */
function divisorOf(column: Float64Array, count: number): number {
  let divisor = 0;
  let inverse = 0;
  for (let i = 1; i < count && divisor !== 1; i++) {
    const difference = Math.abs(column[i]! - column[i - 1]!);
    // Despite rounding, this only holds for a multiple.
    if (Math.round(difference * inverse) * divisor === difference) continue;
    divisor = greatestCommonDivisor(divisor, difference);
    inverse = 1 / divisor;
  }
  return divisor;
}

function greatestCommonDivisor(a: number, b: number): number {
  while (a !== 0) [a, b] = [b % a, a];
  return b;
}

/** False when a difference does not fit a word. */
function differences(
  words: Int32Array,
  column: Float64Array,
  count: number,
  inverse: number,
  fromLast: boolean,
): boolean {
  let from = column[0]!;
  let fits = true;
  for (let i = 1; i < count; i++) {
    const value = column[i]!;
    const difference = Math.round((value - from) * inverse);
    const word = difference | 0;
    if (word !== difference) fits = false;
    words[i - 1] = word;
    if (fromLast) from = value;
  }
  return fits;
}
