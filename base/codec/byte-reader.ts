import { INTEGER_MAX } from "./byte-writer.ts";
import { CodecError } from "./error.ts";

// `ignoreBOM` keeps a leading U+FEFF, which is a character of the text like any other.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Strict UTF-8: anything else is a CodecError. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new CodecError("cannot read text: not UTF-8", { cause });
  }
}

/** Reads what a ByteWriter wrote. Reading beyond the end is a CodecError, never undefined. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(source: Uint8Array, start = 0, end = source.length) {
    if (!(start >= 0 && start <= end && end <= source.length)) throw outOfBytes();
    // A Buffer would make the loops over `bytes` meet two classes.
    this.bytes =
      source.constructor === Uint8Array
        ? source
        : new Uint8Array(source.buffer, source.byteOffset, source.length);
    this.position = start;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  /** Moves over `size` bytes and returns where they began. */
  skip(size: number): number {
    const at = this.position;
    if (!(size >= 0 && size <= this.end - at)) throw outOfBytes();
    this.position = at + size;
    return at;
  }

  /** A view of the next `size` bytes, not a copy. */
  take(size: number): Uint8Array {
    const at = this.skip(size);
    return this.bytes.subarray(at, at + size);
  }

  u8(): number {
    return this.bytes[this.skip(1)]!;
  }

  u32(): number {
    const at = this.skip(4);
    const { bytes } = this;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }

  f64(): number {
    const at = this.skip(8);
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  varint(): number {
    const { bytes, end } = this;
    let at = this.position;
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw outOfBytes();
      const byte = bytes[at++]!;
      low |= (byte & 127) << shift;
      if (byte < 128) {
        this.position = at;
        return low;
      }
    }
    let high = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw outOfBytes();
      const byte = bytes[at++]!;
      high |= (byte & 127) << shift;
      if (byte < 128) {
        this.position = at;
        return joined(high * 2 ** 28, low);
      }
    }
    throw tooLarge();
  }

  zigzag(): number {
    const first = this.u8();
    const low = (first >> 1) & 63;
    const magnitude = first < 128 ? low : joined(this.varint() * 64, low);
    if ((first & 1) === 0) return magnitude;
    if (magnitude === INTEGER_MAX) throw tooLarge();
    return -magnitude - 1;
  }

  text(): string {
    const size = this.varint();
    const at = this.skip(size);
    if (size < 24) {
      const text = this.#ascii(at, size);
      if (text !== undefined) return text;
    }
    return decodeUtf8(this.bytes.subarray(at, at + size));
  }

  /** Short plain texts, for which a decoder call would cost more than the letters. */
  #ascii(at: number, size: number): string | undefined {
    let text = "";
    for (let i = at; i < at + size; i++) {
      const byte = this.bytes[i]!;
      if (byte > 127) return undefined;
      text += String.fromCharCode(byte);
    }
    return text;
  }
}

/** The sum of a multiple and what is below it, refused before it could be rounded. */
function joined(high: number, low: number): number {
  if (high > INTEGER_MAX || (high === INTEGER_MAX && low > 0)) throw tooLarge();
  return high + low;
}

function tooLarge(): CodecError {
  return new CodecError("cannot read integer: beyond 2^53");
}

function outOfBytes(): CodecError {
  return new CodecError("cannot read bytes: they end too early");
}
