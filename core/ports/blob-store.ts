/**
 * Keeps byte strings under their SHA-256. Content is immutable; two puts of the same bytes keep one
 * copy. A resolved `put` is durable. Digests are 64 lower-case hex digits; anything else throws
 * `invalid` before it touches the disk.
 */
export interface BlobStore {
  /**
   * Stores a stream and returns what it was. Throws `invalid` when `expect` differs from what came,
   * `exhausted` beyond `sizeBytesMax`; nothing is kept then, nor when the stream breaks off. Memory
   * stays flat whatever the size.
   */
  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo>;
  /** Throws `not-found`. Reads [start, end); a stream that was not read to its end must be returned. */
  get(digest: string, range?: { start: number; end: number }): Promise<BlobContent>;
  find(digest: string): Promise<BlobInfo | undefined>;
  /** Deleting what is not there is no error. Readers that have begun finish. */
  delete(digest: string): Promise<void>;
  /** All digests, in no order. */
  list(): AsyncIterable<BlobInfo>;
  close(): Promise<void>;
}

export interface PutOptions {
  expect?: { digest?: string; sizeBytes?: number };
  sizeBytesMax: number;
}

export interface BlobInfo {
  digest: string;
  sizeBytes: number;
}

export interface BlobContent extends BlobInfo {
  body: AsyncIterable<Uint8Array>;
}
