import type { BlobInfo, PutOptions } from "../types/blob.ts";

/**
 * Content that is uploaded in pieces, over days and restarts if necessary, until it becomes a blob of the BlobStore that is
 * opened with it. An upload has an id of the caller's choice, written like a digest; calls for one id must not overlap.
 * Several servers may share what a store keeps (a folder), and a call of one that has hung may come late: a piece is written
 * at its offset and not after the bytes of another server.
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
