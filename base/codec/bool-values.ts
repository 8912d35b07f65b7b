import { packBits, unpackBits } from "./bits.ts";
import type { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { pack, unpack } from "./pack.ts";

const ALL_FALSE = 0;
const ALL_TRUE = 1;
const BITS = 2;

const bits = new ByteWriter();

export function encodeBools(writer: ByteWriter, bools: Uint8Array): void {
  bits.reset();
  packBits(bits, bools);
  if (!bools.includes(1)) writer.u8(ALL_FALSE);
  else if (!bools.includes(0)) writer.u8(ALL_TRUE);
  else {
    writer.u8(BITS);
    writer.copy(pack(bits.written()));
  }
}

export function decodeBools(reader: ByteReader, count: number): Uint8Array {
  const form = reader.u8();
  const packed = reader.take(reader.remaining);
  if (form === BITS) return unpackBits(unpack(packed, Math.ceil(count / 8)), count);
  if (form !== ALL_FALSE && form !== ALL_TRUE) {
    throw new CodecError(`cannot decode bools: unknown form ${form}`);
  }
  if (packed.length > 0) throw new CodecError("cannot decode bools: bytes are left over");
  return new Uint8Array(count).fill(form);
}
