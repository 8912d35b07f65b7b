import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";

/** A body this small may be of any ratio: a few hundred thousand zeros in a row are not a bomb. */
export const RATIO_FREE_BYTES = 4 << 20;
const CHUNK_BYTES = 64 << 10;
/** What RFC 9659 allows for zstd as a content encoding. */
const ZSTD_WINDOW_LOG_MAX = 23;

/** Supported encodings, as in Accept-Encoding. */
export const ENCODINGS = ["gzip", "br", "zstd", "deflate"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Its `bytesWritten` counts what it has unpacked, not what waits to be. */
export type Decoder = Transform & { readonly bytesWritten: number };

export function openDecoder(encoding: Encoding): Decoder {
  const chunkSize = CHUNK_BYTES;
  switch (encoding) {
    case "gzip":
      return createGunzip({ chunkSize });
    case "br":
      return createBrotliDecompress({ chunkSize });
    case "zstd":
      return createZstdDecompress({
        chunkSize,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      });
    case "deflate":
      return createInflate({ chunkSize });
  }
}
