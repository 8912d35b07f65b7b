/** Protobuf's wire format written by hand, for messages that no library would write. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;

export function varint(value: bigint | number): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

/** The same number in `size` bytes, though fewer would do. */
export function longVarint(value: bigint | number, size: number): Buffer {
  const short = varint(value);
  const bytes = Buffer.alloc(size, 128);
  bytes[size - 1] = 0;
  short.copy(bytes);
  if (short.length < size) bytes[short.length - 1]! |= 128;
  return bytes;
}

export function zigzag(value: bigint | number): Buffer {
  const wide = BigInt(value);
  return varint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
}

export function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

export function tag(number: number, wireType: number): Buffer {
  return varint((number << 3) | wireType);
}

export function varintField(number: number, value: bigint | number): Buffer {
  return Buffer.concat([tag(number, VARINT), varint(value)]);
}

/** A field with its length in front: text, bytes, a message or packed numbers. */
export function field(number: number, ...body: (string | Uint8Array)[]): Buffer {
  const bytes = Buffer.concat(body.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return Buffer.concat([tag(number, LENGTH), varint(bytes.length), bytes]);
}
