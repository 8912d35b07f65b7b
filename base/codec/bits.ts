import type { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";

/** Eight bools to a byte, the first in the lowest bit. */
export function packBits(writer: ByteWriter, bools: Uint8Array): void {
  const size = Math.ceil(bools.length / 8);
  const bytes = writer.reserve(size);
  let at = writer.length;
  let seen = 0;
  for (let i = 0; i < bools.length; i += 8) {
    const end = Math.min(i + 8, bools.length);
    let byte = 0;
    for (let j = i; j < end; j++) {
      seen |= bools[j]!;
      byte |= bools[j]! << (j - i);
    }
    bytes[at++] = byte;
  }
  if (seen > 1) throw new CodecError("cannot encode bools: not all are 0 or 1");
  writer.length = at;
}

/** Bits behind the last bool must be zero. */
export function unpackBits(bytes: Uint8Array, count: number): Uint8Array {
  const bools = new Uint8Array(count);
  for (let i = 0; i < count; i++) bools[i] = (bytes[i >> 3]! >> (i & 7)) & 1;
  if (count % 8 !== 0 && bytes[bytes.length - 1]! >> (count % 8) !== 0) {
    throw new CodecError("cannot decode bools: bits are set behind the last one");
  }
  return bools;
}
