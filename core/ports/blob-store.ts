/**
 * Keeps byte strings under their SHA-256. Content is immutable; two puts of the same bytes keep one
 * copy. A resolved `put` is durable. Digests are 64 lower-case hex digits; anything else throws
 * `invalid` before it touches the disk.
 */
export interface BlobStore extends UploadStore {
  /**
   * Stores a stream and returns what it was. Throws `invalid` when `expect` differs from what came,
   * `exhausted` beyond `sizeBytesMax`, `unavailable` (DISK_FULL, to be repeated) without space; nothing is kept then,
   * nor when the stream breaks off. Memory stays flat whatever the size: the stream is asked for more when
   * what it gave is written.
   */
  put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo>;
  /** Throws `not-found`. Reads [start, end); a stream that was not read to its end must be returned. */
  get(digest: string, range?: { start: number; end: number }): Promise<BlobContent>;
  find(digest: string): Promise<BlobInfo | undefined>;
  /** Deleting what is not there is no error. Readers that have begun finish. */
  delete(digest: string): Promise<void>;
  /** All digests, or those last put before a time of the system's clock, in no order. */
  list(options?: { putBeforeMs?: number }): AsyncIterable<BlobInfo>;
  /**
   * Copies every blob that is not there yet into a folder of this machine, durably. Copies share their
   * space with what they are of where the file system lets them. Blobs that come or go meanwhile may be in
   * it or not. A store that keeps nothing on disk copies nothing.
   */
  copyTo(folder: string): Promise<void>;
  /** Brings back from such a folder what is not here any more. One that is not there holds nothing. */
  takeFrom(folder: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Content that comes in pieces, over days and restarts if need be. An upload has an id of the caller's
 * choice, written like a digest; calls for one id must not overlap. Several servers may share what a store keeps (a folder), and a
 * call of one that has hung may then come late: a piece is written where it belongs and not behind what another has written.
 */
export interface UploadStore {
  /** In no order. */
  listUploads(): AsyncIterable<UploadInfo>;
  findUpload(id: string): Promise<UploadInfo | undefined>;
  /**
   * Adds a piece at `offset`, which must be the size of what is there (0 begins an upload), and returns the new
   * size; throws `precondition` (UPLOAD_OFFSET) otherwise. What a resolved call added is durable. Of a
   * stream that breaks off everything that came is kept and durable, and its error is passed on; when the
   * disk is full nothing of the piece is kept.
   */
  appendUpload(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number>;
  /**
   * Makes a blob of it. Throws `not-found`; `invalid` when it is not what `expect` says, and then drops it.
   */
  finishUpload(id: string, options: FinishOptions): Promise<BlobInfo>;
  /** Dropping what is not there is no error. */
  dropUpload(id: string): Promise<void>;
}

export interface UploadInfo {
  id: string;
  sizeBytes: number;
  /** When the last piece came, by the system's clock. */
  touchedMs: number;
}

export interface FinishOptions {
  expect: BlobInfo;
  beforePlace?: PutOptions["beforePlace"];
  /** Whether others may have written to it through another store, so that its digest must be computed from what is there. */
  reread?: boolean;
}

export interface PutOptions {
  expect?: { digest?: string; sizeBytes?: number };
  sizeBytesMax: number;
  /**
   * Awaited when all has come and is what was expected, just before it can be found under its digest:
   * the moment to keep others from deleting it. When it throws, nothing is kept.
   */
  beforePlace?: ((blob: BlobInfo) => Promise<void>) | undefined;
}

export interface BlobInfo {
  digest: string;
  sizeBytes: number;
}

export interface BlobContent extends BlobInfo {
  body: AsyncIterable<Uint8Array>;
}
