import type { ArtifactStore } from "#core/ports/artifact-store.ts";
import type { BlobLedger } from "#core/ports/blob-ledger.ts";
import type { Leases } from "#core/ports/leases.ts";
import type { UploadLedger } from "#core/ports/upload-ledger.ts";
import type { ReaderApi, WriterApi } from "./worker-api.ts";

/** How the calling side reaches a storage thread. */
export type Calls<Api> = <M extends keyof Api>(
  method: M,
  args: Api[M] extends (...args: infer A) => unknown ? A : never,
) => Promise<Api[M] extends (...args: never) => infer R ? Awaited<R> : never>;

/** Calls of the writer after which subscribers find nothing new. */
export const UNSEEN: ReadonlySet<keyof WriterApi> = new Set([
  "acquireLease",
  "renewLease",
  "pinBlob",
  "unpinBlob",
  "markBlobs",
  "unmarkBlobs",
  "takeUpload",
  "renewUpload",
  "endTurn",
  "takeExpired",
]);

export function artifactPort(write: Calls<WriterApi>, read: Calls<ReaderApi>): ArtifactStore {
  return {
    putArtifact: (...args) => write("putArtifact", args),
    deleteArtifact: (...args) => write("deleteArtifact", args),
    restoreReplaced: (...args) => write("restoreReplaced", args),
    purgeReplaced: (...args) => write("purgeReplaced", args),
    expireReplaced: (...args) => write("expireReplaced", args),
    listReplaced: (...args) => read("listReplaced", args),
    findArtifact: (...args) => read("findArtifact", args),
    getArtifacts: (...args) => read("getArtifacts", args),
    readContent: (...args) => read("readContent", args),
    listArtifacts: (...args) => read("listArtifacts", args),
  };
}

export function blobLedgerPort(write: Calls<WriterApi>, read: Calls<ReaderApi>): BlobLedger {
  return {
    pinBlob: (...args) => write("pinBlob", args),
    unpinBlob: (...args) => write("unpinBlob", args),
    markBlobs: (...args) => write("markBlobs", args),
    unmarkBlobs: (...args) => write("unmarkBlobs", args),
    listUsedBlobs: (...args) => read("listUsedBlobs", args),
    listUnusedBlobs: (...args) => read("listUnusedBlobs", args),
    findUsedBlobs: (...args) => read("findUsedBlobs", args),
  };
}

export function leasesPort(write: Calls<WriterApi>): Leases {
  return {
    acquireLease: (...args) => write("acquireLease", args),
    renewLease: (...args) => write("renewLease", args),
  };
}

export function uploadLedgerPort(write: Calls<WriterApi>, read: Calls<ReaderApi>): UploadLedger {
  return {
    takeUpload: (...args) => write("takeUpload", args),
    renewUpload: (...args) => write("renewUpload", args),
    endTurn: (...args) => write("endTurn", args),
    takeExpired: (...args) => write("takeExpired", args),
    findUploads: (...args) => read("findUploads", args),
  };
}
