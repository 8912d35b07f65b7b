import type { Artifact } from "../types/artifact.ts";

/** In place of a digest: pins all blobs. */
export const ALL_BLOBS = "";

/**
 * Which blobs are needed, and which may be destroyed. Content itself is in a BlobStore, which knows nothing of artifacts; several
 * cores write to both. A blob is *in use* while an artifact or a version has its digest. Before a blob gets its name its digest is
 * *pinned*, and `ArtifactStore.putArtifact` removes the pin in the transaction that makes the artifact. Before a blob is
 * destroyed its digest is *marked*, and the mark is removed after that. Holders are any text, new for each pin and each mark.
 *
 * Every method is one transaction, so that pins (P), artifacts (A), marks (M) and their ends (E) of one digest have an order, in which
 * the upload places its blob between P and A, and a sweep deletes it between M and E:
 *
 * - P before M: M finds the pin, and does not mark. After A the digest is in use; when the upload fails the pin is removed.
 * - M before P: P is refused until E. The blob is deleted before E and placed after P, so it exists at A.
 * - P, and the core dies: the pin expires, and the blob is found as one without an artifact.
 * - P, and it expires before A: M removes the pin and marks. A finds no pin and is refused. Only M checks whether a pin has
 *   expired, so a late A without an M in between is accepted, rightly.
 * - M, and the core dies before E: the mark expires, then P is accepted or another M marks again.
 * - M, and it expires before the blob is deleted: the one case that the order does not decide. A sweep must stop long
 *   before its mark ends.
 * - Two P: two pins, and no M until both are removed. Two M: the second does not mark.
 * - P of ALL_BLOBS comes before every later M, which finds it and does not mark. Marks from before it may be left: the pinning core retries
 *   until each has had its E. From then on no blob is destroyed, as a backup needs it.
 *
 * Pins and marks need not outlive the store: an engine used by one process only may drop them when it is closed.
 */
export interface BlobLedger {
  /**
   * Pins a digest, or all; again with the same holder moves the end. A digest: returns false, and pins nothing, while it is marked.
   * All: pins in any case, and returns whether no marks are left. A caller that does not wait for that must remove the pin.
   */
  pinBlob(digest: string, holder: string, nowUs: number, untilUs: number): Promise<boolean>;
  /** Removing a pin that does not exist is not an error. */
  unpinBlob(digest: string, holder: string): Promise<void>;
  /** Marks those of the digests that are neither in use nor pinned nor marked, and returns them. */
  markBlobs(digests: readonly string[], holder: string, nowUs: number, untilUs: number): Promise<string[]>;
  /** Removes all marks of a holder. The content of `destroyed` is deleted: it is no longer listed as unused. */
  unmarkBlobs(holder: string, destroyed: readonly string[]): Promise<void>;

  /** The digests in use, each once with one of its artifacts, rising from after `after`. */
  listUsedBlobs(page: { after: string | undefined; limit: number }): Promise<Artifact[]>;
  /** Digests whose last artifact or version is gone, in no order. */
  listUnusedBlobs(limit: number): Promise<string[]>;
  /** Those of the digests that are in use at this moment. */
  findUsedBlobs(digests: readonly string[]): Promise<string[]>;
}
