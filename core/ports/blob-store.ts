import type { BlobInfo, PutOptions } from "../types/blob.ts";

/**
 * Keeps byte strings under their SHA-256. Content is immutable; two puts of the same bytes keep one
 * copy. A resolved `put` is durable. Digests are 64 lower-case hex digits; anything else throws
 * `invalid` before it touches the disk.
 */
export interface BlobStore extends UploadStore {
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
  /**
   * Copies every blob that is not in it yet into a folder of this machine, durably. Copies share their
   * space with the originals if the file system supports that. Blobs that are added or deleted meanwhile may be in
   * it or not. A store without files copies nothing.
   */
  copyTo(folder: string): Promise<void>;
  /** Restores missing blobs from such a folder. A missing folder is empty. */
  takeFrom(folder: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Content that is uploaded in pieces, over days and restarts if necessary. An upload has an id of the caller's
 * choice, written like a digest; calls for one id must not overlap. Several servers may share what a store keeps (a folder), and a
 * call of one that has hung may come late: a piece is written at its offset and not after the bytes of another server.
 */
export interface UploadStore {
  /** In no order. */
  listUploads(): AsyncIterable<UploadInfo>;
  findUpload(id: string): Promise<UploadInfo | undefined>;
  /**
   * Adds a piece at `offset`, which must be the current size (0 begins an upload), and returns the new
   * size; throws `precondition` (UPLOAD_OFFSET) otherwise. Bytes of a resolved call are durable. When a
   * stream is cut off, the bytes received are kept and durable, and its error is passed on; when the
   * disk is full nothing of the piece is kept.
   */
  appendUpload(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number>;
  /**
   * Makes a blob of it. Throws `not-found`; `invalid` when it differs from `expect`, and then drops it.
   */
  finishUpload(id: string, options: FinishOptions): Promise<BlobInfo>;
  /** Dropping a missing upload is not an error. */
  dropUpload(id: string): Promise<void>;
}

export interface UploadInfo {
  id: string;
  sizeBytes: number;
  /** When the last piece was added, by the system's clock. */
  touchedMs: number;
}

export interface FinishOptions {
  expect: BlobInfo;
  beforePlace?: PutOptions["beforePlace"];
  /** Whether others may have written to it through another store, so that its digest must be computed from the stored bytes. */
  reread?: boolean;
}

export interface BlobContent extends BlobInfo {
  body: AsyncIterable<Uint8Array>;
}
