import { endianness } from "node:os";
import { CodecError } from "./error.ts";

// Columns are copied between typed arrays and stored bytes as they are.
if (endianness() !== "LE") throw new Error("cannot load codec: this machine is not little-endian");

/** The largest magnitude of a step, a time and a varint. */
export const INTEGER_MAX = 2 ** 53;

/**
 * Bytes that grow, kept between uses so that writing allocates nothing. Loops that must be fast call
 * `reserve`, write into `bytes` from `length` on and set `length` themselves.
 */
export class ByteWriter {
  bytes: Uint8Array;
  length = 0;
  #buffer: Buffer;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity);
    this.#buffer = Buffer.from(this.bytes.buffer);
  }

  /** Makes room for `more` bytes after `length` and returns the storage, which may be a new one. */
  reserve(more: number): Uint8Array {
    const needed = this.length + more;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
      grown.set(this.written());
      this.bytes = grown;
      this.#buffer = Buffer.from(grown.buffer);
    }
    return this.bytes;
  }

  reset(): void {
    this.length = 0;
  }

  /** A view of the written bytes, valid until the next write. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** What was written, in an ArrayBuffer of its own of exactly that size. The writer starts afresh. */
  finish(): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(this.length);
    result.set(this.written());
    this.length = 0;
    return result;
  }

  u8(value: number): void {
    this.reserve(1)[this.length++] = value;
  }

  u32(value: number): void {
    const bytes = this.reserve(4);
    const at = this.length;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    this.length = at + 4;
  }

  /** The bits of a NaN may change; `copy` keeps them. */
  f64(value: number): void {
    this.reserve(8);
    this.#buffer.writeDoubleLE(value, this.length);
    this.length += 8;
  }

  /** LEB128 of an integer of 0 to 2^53. */
  varint(value: number): void {
    const bytes = this.reserve(8);
    let rest = value >>> 0;
    if (rest === value) {
      let at = this.length;
      while (rest > 127) {
        bytes[at++] = rest | 128;
        rest >>>= 7;
      }
      bytes[at++] = rest;
      this.length = at;
      return;
    }
    if (!(Number.isInteger(value) && value >= 0 && value <= INTEGER_MAX)) {
      throw new CodecError(`cannot write varint "${value}": not an integer of 0 to 2^53`);
    }
    // Above 2^32 the low 28 bits always fill four bytes.
    const at = this.length;
    bytes[at] = rest | 128;
    bytes[at + 1] = (rest >>> 7) | 128;
    bytes[at + 2] = (rest >>> 14) | 128;
    bytes[at + 3] = (rest >>> 21) | 128;
    this.length = at + 4;
    this.varint(Math.floor(value / 2 ** 28));
  }

  /** Zigzag LEB128 of an integer of -2^53 to 2^53. */
  zigzag(value: number): void {
    const small = value | 0;
    if (small === value) {
      this.varint(((small << 1) ^ (small >> 31)) >>> 0);
      return;
    }
    if (!(Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX)) {
      throw new CodecError(`cannot write zigzag "${value}": not an integer of -2^53 to 2^53`);
    }
    // Twice the value need not fit a double, so the first seven bits are set apart.
    const negative = value < 0 ? 1 : 0;
    const magnitude = negative === 1 ? -value - 1 : value;
    this.u8(128 | ((magnitude & 63) << 1) | negative);
    this.varint(Math.floor(magnitude / 64));
  }

  /** The bytes of a typed array, bit for bit. */
  copy(data: Uint8Array | Uint16Array | Float64Array | BigInt64Array): void {
    const size = data.byteLength;
    this.reserve(size).set(new Uint8Array(data.buffer, data.byteOffset, size), this.length);
    this.length += size;
  }

  /** UTF-8 after its length in bytes as a varint. Half a surrogate pair has no UTF-8 and is refused. */
  text(value: string): void {
    const units = value.length;
    if (units < 128) {
      const bytes = this.reserve(units + 1);
      const start = this.length + 1;
      let i = 0;
      for (let unit = 0; i < units && (unit = value.charCodeAt(i)) < 128; i++) bytes[start + i] = unit;
      if (i === units) {
        bytes[start - 1] = units;
        this.length = start + units;
        return;
      }
    }
    if (!value.isWellFormed()) throw new CodecError("cannot write text: it holds half of a surrogate pair");
    const size = Buffer.byteLength(value);
    this.varint(size);
    this.reserve(size);
    this.#buffer.write(value, this.length, size);
    this.length += size;
  }
}
