/**
 * A column of 32-bit words: what every other column comes down to.
 *
 * Each word is replaced by its distance from a prediction that the reader can make as well, zigzag
 * coded so that small distances of either sign have zero high bytes, and the result is stored as byte
 * planes. All arithmetic is modulo 2^32, so that it can always be undone.
 */
import type { ByteReader } from "./byte-reader.ts";
import { CodecError } from "./error.ts";
import { joinPlanes, readPlanes, type Planes, type PlaneWriter } from "./planes.ts";

// What a word is predicted by, in the lowest two bits of the column's head byte.
const NOTHING = 0; // the word itself, not zigzag coded
const LEVEL = 1; // a fixed word: noise around a level
const LAST = 2; // the word before: runs and smooth curves
const MEAN = 3; // a running mean: noise around a curve

// The next five bits: zero bits at the low end that all words share and that are not stored.
const SHIFT_AT = 2;
const SHIFT_MASK = 31;
/** The words are the bits of floats, mapped so that they rise with the float's value. */
const SIGN_FOLDED = 128;

/** So many words, half of them from either end, decide how a column is predicted. */
const JUDGED_MAX = 2048;

/** Each word moves the running mean by an eighth of its distance. */
const MEAN_SHIFT = 3;

/** How a column will be written. */
export interface WordsPlan {
  readonly predictor: number;
  readonly base: number;
  readonly shift: number;
  readonly folded: boolean;
  /** Roughly how many bits are left, to compare plans by. */
  readonly bits: number;
}

/** Finds the best plan and readies the words for it. With `signed`, their highest bit is the sign of a float. */
export function planWords(words: Int32Array, count: number, signed = false): WordsPlan {
  let used = 0;
  for (let i = 0; i < count; i++) used |= words[i]!;
  const shift = used === 0 ? 0 : 31 - Math.clz32(used & -used);
  const folded = signed && used < 0;
  const mask = folded ? 0x7fffffff >>> shift : 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    let word = words[i]! >> shift;
    word ^= (word >> 31) & mask;
    words[i] = word;
    sum += word;
  }
  const level = count === 0 ? 0 : Math.round(sum / count);
  const { predictor, bits } = choosePredictor(words, count, level);
  const base = predictor === NOTHING ? 0 : predictor === LEVEL ? level : words[0]!;
  return { predictor, base, shift, folded, bits };
}

/** `words` as `planWords` left them; they are destroyed. */
export function encodeWords(writer: PlaneWriter, words: Int32Array, count: number, plan: WordsPlan): void {
  const { predictor, base, shift, folded } = plan;
  subtract(words, count, predictor, base);
  writer.head.u8(predictor | (shift << SHIFT_AT) | (folded ? SIGN_FOLDED : 0));
  if (predictor !== NOTHING) writer.head.zigzag(base);
  writer.add(words, count);
}

/** Reads a column of `count` words, which must be all that is left in the reader. */
export function decodeWords(reader: ByteReader, count: number, words: Int32Array): void {
  const head = readHead(reader);
  const [planes] = readPlanes(reader, count, [head.map]);
  restoreWords(words, count, head, planes!);
}

/** Reads two columns of `count` words, which must be all that is left in the reader. */
export function decodeWordPair(reader: ByteReader, count: number, low: Int32Array, high: Int32Array): void {
  const lowHead = readHead(reader);
  const highHead = readHead(reader);
  const [lowPlanes, highPlanes] = readPlanes(reader, count, [lowHead.map, highHead.map]);
  restoreWords(low, count, lowHead, lowPlanes!);
  restoreWords(high, count, highHead, highPlanes!);
}

function restoreWords(words: Int32Array, count: number, head: WordsHead, planes: Planes): void {
  const { predictor, base, shift, folded } = head;
  joinPlanes(planes, words, count);
  if (predictor === LEVEL) addLevel(words, count, base);
  else if (predictor === LAST) addLast(words, count, base);
  else if (predictor === MEAN) addMean(words, count, base);
  if (folded) unfold(words, count, shift);
  if (shift > 0) shiftBack(words, count, shift);
}

interface WordsHead {
  predictor: number;
  shift: number;
  folded: boolean;
  base: number;
  map: number;
}

function readHead(reader: ByteReader): WordsHead {
  const byte = reader.u8();
  const predictor = byte & 3;
  const base = predictor === NOTHING ? 0 : reader.zigzag();
  if ((base | 0) !== base) throw new CodecError("cannot read words: the base is not a word");
  const shift = (byte >> SHIFT_AT) & SHIFT_MASK;
  return { predictor, shift, folded: (byte & SIGN_FOLDED) !== 0, base, map: reader.u8() };
}

/** The predictor that leaves the fewest bits, the simplest one among equals. */
function choosePredictor(
  words: Int32Array,
  count: number,
  base: number,
): { predictor: number; bits: number } {
  const level = base | 0;
  let nothing = 0;
  let fixed = 0;
  let last = 0;
  let running = 0;
  let previous = count === 0 ? 0 : words[0]! | 0;
  let mean = previous;
  const judged = Math.min(count, JUDGED_MAX);
  const gap = count - judged;
  for (let i = 0; i < judged; i++) {
    const word = words[i < judged >> 1 ? i : i + gap]!;
    const fromLevel = (word - level) | 0;
    const fromLast = (word - previous) | 0;
    const fromMean = (word - mean) | 0;
    // Zero bits at the high end of the zigzag code; its sign bit is the same for all but `nothing`.
    nothing = (nothing + Math.clz32(word)) | 0;
    fixed = (fixed + Math.clz32(fromLevel ^ (fromLevel >> 31))) | 0;
    last = (last + Math.clz32(fromLast ^ (fromLast >> 31))) | 0;
    running = (running + Math.clz32(fromMean ^ (fromMean >> 31))) | 0;
    previous = word;
    mean = (mean + (fromMean >> MEAN_SHIFT)) | 0;
  }
  const best = Math.max(fixed, last, running) - judged;
  const bits = judged * 32 - Math.max(nothing, best);
  if (nothing >= best) return { predictor: NOTHING, bits };
  if (last - judged === best) return { predictor: LAST, bits };
  return { predictor: fixed - judged === best ? LEVEL : MEAN, bits };
}

function subtract(words: Int32Array, count: number, predictor: number, base: number): void {
  if (predictor === NOTHING) return;
  let predicted = base | 0;
  for (let i = 0; i < count; i++) {
    const word = words[i]!;
    const distance = (word - predicted) | 0;
    words[i] = (distance << 1) ^ (distance >> 31);
    if (predictor === LAST) predicted = word;
    else if (predictor === MEAN) predicted = (predicted + (distance >> MEAN_SHIFT)) | 0;
  }
}

// `| 0` on a number from outside tells the compiler that the sums in the loop are of words.

function addLevel(words: Int32Array, count: number, base: number): void {
  const level = base | 0;
  for (let i = 0; i < count; i++) words[i] = (level + unzigzag(words[i]!)) | 0;
}

function addLast(words: Int32Array, count: number, first: number): void {
  let last = first | 0;
  for (let i = 0; i < count; i++) words[i] = last = (last + unzigzag(words[i]!)) | 0;
}

function addMean(words: Int32Array, count: number, first: number): void {
  let mean = first | 0;
  for (let i = 0; i < count; i++) {
    const distance = unzigzag(words[i]!);
    words[i] = (mean + distance) | 0;
    mean = (mean + (distance >> MEAN_SHIFT)) | 0;
  }
}

function unfold(words: Int32Array, count: number, shift: number): void {
  const mask = 0x7fffffff >>> shift;
  for (let i = 0; i < count; i++) words[i]! ^= (words[i]! >> 31) & mask;
}

function shiftBack(words: Int32Array, count: number, shift: number): void {
  for (let i = 0; i < count; i++) words[i]! <<= shift;
}

function unzigzag(word: number): number {
  return (word >>> 1) ^ (0 - (word & 1));
}
