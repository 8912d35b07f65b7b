/**
 * Columns of 32-bit words as byte planes: all lowest bytes, then all second bytes, and so on.
 *
 * Of measured numbers the low planes are noise, the high ones nearly constant and only one or two in
 * between are worth compressing. So a plane of zeros is not stored, noise is stored as it is, and the
 * rest of all columns of one part is compressed together. Leaving noise out makes that smaller, too,
 * because the Huffman code then fits the planes that are left.
 */
import type { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { CHUNK_POINTS_MAX } from "./scratch.ts";
import { pack, unpack } from "./pack.ts";

// What a plane is, two bits each in a map byte, the lowest plane in the lowest bits. 0 is a plane of zeros.
const RAW = 1;
const PACKED = 2;

const SAVING_BYTES_MIN = 16;
const SAVING_SHARE_MIN = 1 / 16; // less is not worth the time to decompress
const FIXED_BYTES = 12; // what compressing costs beside the code for the symbols
const SYMBOL_BYTES = 0.5; // what a symbol costs in the description of a Huffman code
const SAMPLES_MAX = 2048;

/** Collects the planes of one part. Reused; `flush` empties it. */
export class PlaneWriter {
  /** What comes before the planes. */
  readonly head = new ByteWriter(64);
  readonly #raw = new ByteWriter(1 << 16);
  readonly #packed = new ByteWriter(1 << 16);
  readonly #plane = new ByteWriter(1 << 16);

  reset(): void {
    this.head.reset();
    this.#raw.reset();
    this.#packed.reset();
  }

  /** Adds the planes of a column and writes their map byte to the head. */
  add(words: Int32Array, count: number): void {
    let used = 0;
    for (let i = 0; i < count; i++) used |= words[i]!;
    const plane = this.#plane.reserve(count).subarray(0, count);
    let map = 0;
    for (let shift = 0; shift < 32; shift += 8) {
      if (((used >>> shift) & 255) === 0) continue;
      splitPlane(words, shift, plane);
      const worth = isWorthPacking(plane);
      (worth ? this.#packed : this.#raw).copy(plane);
      map |= (worth ? PACKED : RAW) << (shift >> 2);
    }
    this.head.u8(map);
  }

  flush(writer: ByteWriter): void {
    writer.copy(this.head.written());
    writer.copy(this.#raw.written());
    if (this.#packed.length > 0) writer.copy(pack(this.#packed.written()));
    this.reset();
  }
}

/** Planes of one column from the lowest; undefined for zeros. */
export type Planes = readonly (Uint8Array | undefined)[];

/** Takes everything that is left in the reader: the planes of columns of `count` words with these maps. */
export function readPlanes(reader: ByteReader, count: number, maps: readonly number[]): Planes[] {
  let packedCount = 0;
  const columns = maps.map((map) => {
    const planes: (Uint8Array | undefined)[] = [];
    for (let shift = 0; shift < 8; shift += 2) {
      const what = (map >> shift) & 3;
      if (what > PACKED) throw new CodecError("cannot read planes: unknown kind of plane");
      if (what === PACKED) packedCount++;
      planes.push(what === RAW ? reader.take(count) : undefined);
    }
    return planes;
  });
  const rest = reader.take(reader.remaining);
  if (packedCount === 0) {
    if (rest.length > 0) throw new CodecError("cannot read planes: bytes are left over");
    return columns;
  }
  const packed = unpack(rest, packedCount * count);
  let at = 0;
  for (const [index, planes] of columns.entries()) {
    for (let j = 0; j < 4; j++) {
      if (((maps[index]! >> (j * 2)) & 3) === PACKED) planes[j] = packed.subarray(at, (at += count));
    }
  }
  return columns;
}

const zeros = new Uint8Array(CHUNK_POINTS_MAX);

/** Puts the words together again. */
export function joinPlanes(planes: Planes, words: Int32Array, count: number): void {
  const [first = zeros, second = zeros, third = zeros, fourth = zeros] = planes;
  if (fourth !== zeros) joinFour(first, second, third, fourth, words, count);
  else if (third !== zeros) joinThree(first, second, third, words, count);
  else if (second !== zeros) joinTwo(first, second, words, count);
  else for (let i = 0; i < count; i++) words[i] = first[i]!;
}

// One function for each loop: the compiler then knows all about it, whichever caller it has.

function splitPlane(words: Int32Array, shift: number, plane: Uint8Array): void {
  for (let i = 0; i < plane.length; i++) plane[i] = words[i]! >>> shift;
}

function joinTwo(a: Uint8Array, b: Uint8Array, words: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) words[i] = a[i]! | (b[i]! << 8);
}

function joinThree(a: Uint8Array, b: Uint8Array, c: Uint8Array, words: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) words[i] = a[i]! | (b[i]! << 8) | (c[i]! << 16);
}

function joinFour(
  a: Uint8Array,
  b: Uint8Array,
  c: Uint8Array,
  d: Uint8Array,
  words: Int32Array,
  count: number,
): void {
  for (let i = 0; i < count; i++) words[i] = a[i]! | (b[i]! << 8) | (c[i]! << 16) | (d[i]! << 24);
}

const counts = new Uint32Array(256);
const entropyTerms = Float64Array.from({ length: SAMPLES_MAX + 1 }, (_, n) =>
  n === 0 ? 0 : n * Math.log2(n),
);

/** Guesses by the entropy of single bytes, which finds runs and few values as well as skewed noise. */
function isWorthPacking(plane: Uint8Array): boolean {
  const stride = Math.ceil(plane.length / SAMPLES_MAX);
  const samples = Math.ceil(plane.length / stride);
  countBytes(plane, stride);
  let symbols = 0;
  let bits = entropyTerms[samples]!;
  for (let i = 0; i < 256; i++) {
    const n = counts[i]!;
    if (n > 0) symbols++;
    bits -= entropyTerms[n]!;
  }
  const size = (bits / 8) * (plane.length / samples) + symbols * SYMBOL_BYTES + FIXED_BYTES;
  return plane.length - size >= Math.max(SAVING_BYTES_MIN, plane.length * SAVING_SHARE_MIN);
}

function countBytes(plane: Uint8Array, stride: number): void {
  counts.fill(0);
  for (let i = 0; i < plane.length; i += stride) counts[plane[i]!]!++;
}
