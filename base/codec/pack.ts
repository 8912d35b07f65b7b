import { constants, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { CodecError } from "./error.ts";

const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const DEFLATE_OPTIONS = { level: 1 };
const CHUNK_SIZE_MIN = 64; // the least that node:zlib takes

/**
 * Up to this size deflate, above it zstd. A call of zstd costs some 10 us and 150 KB before the first
 * byte, one of deflate 3 us; zstd makes up for it from here on.
 */
const DEFLATE_SIZE_MAX = 4096;

/** The bytes compressed, or unchanged when that is not smaller. `unpack` distinguishes the two by their sizes. */
export function pack(bytes: Uint8Array): Uint8Array {
  const packed =
    bytes.length > DEFLATE_SIZE_MAX
      ? zstdCompressSync(bytes, ZSTD_OPTIONS)
      : deflateRawSync(bytes, DEFLATE_OPTIONS);
  return packed.length < bytes.length ? packed : bytes;
}

/** Undoes `pack` of `size` bytes. Never allocates more than about `size`. */
export function unpack(packed: Uint8Array, size: number): Uint8Array {
  if (packed.length === size) return packed;
  const bytes = packed.length < size ? decompress(packed, size) : undefined;
  if (bytes?.length !== size) throw new CodecError("cannot decompress: it does not have the size it says");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, size);
}

function decompress(packed: Uint8Array, size: number): Uint8Array {
  const options = { maxOutputLength: size, chunkSize: Math.max(size, CHUNK_SIZE_MIN) };
  try {
    return size > DEFLATE_SIZE_MAX ? zstdDecompressSync(packed, options) : inflateRawSync(packed, options);
  } catch (cause) {
    throw new CodecError("cannot decompress: it is damaged", { cause });
  }
}
