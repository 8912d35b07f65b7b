import type { BlobInfo, PutOptions } from "../types/blob.ts";

/**
 * Keeps byte strings under their SHA-256. Content is immutable; two puts of the same bytes keep one
 * copy. A resolved `put` is durable. Digests are 64 lower-case hex digits; anything else throws
 * `invalid` before it touches the disk.
 */
export interface BlobStore {
  /**
   * Stores a stream and returns its digest and size. Throws `invalid` when it differs from `expect`, `exhausted` above
   * `sizeBytesMax`, `unavailable` (DISK_FULL, can be retried) without space; nothing is kept then, nor when the stream
   * is cut off. Memory use does not depend on the size: the stream is read on when the data before is written.
   */
  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo>;
  /** Throws `not-found`. Reads [start, end); a stream that was not read to its end must be returned. */
  get(digest: string, range?: { start: number; end: number }): Promise<BlobContent>;
  find(digest: string): Promise<BlobInfo | undefined>;
  /** Deleting a missing blob is not an error. Readers that have begun finish. */
  delete(digest: string): Promise<void>;
  /** All digests, or those last put before a time of the system's clock, in no order. */
  list(options?: { putBeforeMs?: number }): AsyncIterable<BlobInfo>;
  close(): Promise<void>;
  /** Of some engines; absent where this one does not have it. */
  readonly copies?: BlobCopies;
}

/** An engine that can copy its blobs to a folder of this machine, for backups. */
export interface BlobCopies {
  /**
   * Copies every blob that is not in the folder yet, durably; several calls may share one. Copies share their
   * space with the originals if the file system supports that. Blobs that are added or deleted meanwhile may be in
   * it or not.
   */
  copyTo(folder: string): Promise<void>;
  /** Restores missing blobs from such a folder. A missing folder is empty. */
  takeFrom(folder: string): Promise<void>;
}

export interface BlobContent extends BlobInfo {
  body: AsyncIterable<Uint8Array>;
}
