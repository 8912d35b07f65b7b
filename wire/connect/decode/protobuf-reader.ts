import { CairnError } from "#lang/errors.ts";

export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
const START_GROUP = 3;
export const FIXED32 = 5;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TWO_32 = 2 ** 32;
const INTEGER_MAX = 2 ** 53;

/**
 * Reads protobuf's wire format by hand, for the one message that arrives thousands of times a second.
 * No BigInt, no object per field. Anything malformed is `invalid`; nothing is read beyond the end.
 */
export class ProtobufReader {
  readonly bytes: Buffer;
  position: number;
  readonly end: number;
  /** Halves of the varint read last. */
  #low = 0;
  #high = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get more(): boolean {
    return this.position < this.end;
  }

  /** Field number times 8 plus wire type. */
  tag(): number {
    const tag = this.uint32();
    if (tag >>> 3 === 0) throw malformed("field number 0");
    return tag;
  }

  uint32(): number {
    this.#varint();
    if (this.#high !== 0) throw malformed("a number beyond 32 bits");
    return this.#low >>> 0;
  }

  bool(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  /** Throws for a number that a double does not hold exactly. */
  uint64(what: string): number {
    this.#varint();
    return whole(this.#high >>> 0, this.#low >>> 0, what);
  }

  int64(what: string): number {
    this.#varint();
    return whole(this.#high, this.#low >>> 0, what);
  }

  /** As `int64`, zigzag coded. */
  sint64(what: string): number {
    this.#varint();
    const negative = this.#low & 1;
    const high = this.#high >>> 1;
    const low = ((this.#low >>> 1) | (this.#high << 31)) >>> 0;
    // n encodes -n - 1; of 2^53 only the positive one is left.
    return negative === 0 ? whole(high, low, what) : whole(-high - 1, TWO_32 - 1 - low, what);
  }

  /** Any 64-bit integer, as BigInt. */
  sint64Big(): bigint {
    this.#varint();
    const raw = (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
    return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n));
  }

  /** The end of a length-delimited field that begins here. */
  span(): number {
    const size = this.uint32();
    const end = this.position + size;
    if (end > this.end) throw malformed("a field that ends beyond its message");
    return end;
  }

  /** A reader over a nested message, which this one has then passed. */
  message(): ProtobufReader {
    const end = this.span();
    const inner = new ProtobufReader(this.bytes, this.position, end);
    this.position = end;
    return inner;
  }

  text(what: string): string {
    const end = this.span();
    const start = this.position;
    this.position = end;
    if (end - start < 64) {
      // Short ASCII, the usual key or label, needs no decoder.
      let ascii = true;
      for (let i = start; i < end; i++) if (this.bytes[i]! > 127) ascii = false;
      if (ascii) return this.bytes.toString("latin1", start, end);
    }
    try {
      return utf8.decode(this.bytes.subarray(start, end));
    } catch {
      throw new CairnError("invalid", `cannot accept ${what}: it is not valid UTF-8`, { reason: "BAD_UTF8" });
    }
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#pass(8);
        return;
      case LENGTH:
        this.position = this.span();
        return;
      case START_GROUP:
        throw malformed("a group");
      case FIXED32:
        this.#pass(4);
        return;
      default:
        throw malformed(`wire type ${tag & 7}`);
    }
  }

  #pass(size: number): void {
    this.position += size;
    if (this.position > this.end) throw malformed("a field that ends beyond its message");
  }

  #varint(): void {
    const { bytes, end } = this;
    let at = this.position;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw malformed("a number that ends beyond its message");
      const byte = bytes[at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        this.position = at;
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw malformed("a number of more than 10 bytes");
  }
}

/** high * 2^32 + low, refused rather than rounded. */
function whole(high: number, low: number, what: string): number {
  const value = high * TWO_32 + low;
  if (Math.abs(value) < INTEGER_MAX || (Math.abs(value) === INTEGER_MAX && low === 0)) return value;
  throw new CairnError("invalid", `cannot accept ${what} "${value}": it must be at most 2^53 in magnitude`, {
    reason: "UNSAFE_INTEGER",
  });
}

export function malformed(what: string): CairnError {
  return new CairnError("invalid", `cannot read the message: it holds ${what}`, { reason: "MALFORMED" });
}
