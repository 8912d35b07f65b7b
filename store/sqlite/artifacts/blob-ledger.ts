import { CairnError, quote } from "#lang/errors.ts";
import { ALL_BLOBS, type BlobLedger } from "#core/ports/blob-ledger.ts";
import { URGENT, type JobOptions } from "../committer.ts";
import type { Db } from "../file/db.ts";
import { Artifacts } from "./artifacts.ts";

type Writes = Pick<BlobLedger, "pinBlob" | "unpinBlob" | "markBlobs" | "unmarkBlobs">;

/** `change` and `changeHeld` as of StoreWriter. On a full disk unused content can still be destroyed. */
export function blobWrites(
  change: <T>(work: (db: Db) => T, options?: JobOptions) => Promise<T>,
  changeHeld: <T>(work: (db: Db) => T) => Promise<T>,
): Writes {
  return {
    pinBlob: (digest, holder, nowUs, untilUs) =>
      changeHeld((db) => {
        db.run("DELETE FROM blob_mark WHERE until_us <= ?", nowUs);
        const marked =
          digest === ALL_BLOBS
            ? db.find("SELECT 1 FROM blob_mark LIMIT 1")
            : db.find("SELECT 1 FROM blob_mark WHERE sha256 = ?", digest);
        const isMarked = marked !== undefined;
        if (isMarked && digest !== ALL_BLOBS) return false;
        const sql = "INSERT OR REPLACE INTO blob_pin (sha256, holder, until_us) VALUES (?, ?, ?)";
        db.run(sql, digest, holder, untilUs);
        return !isMarked;
      }),
    unpinBlob: (digest, holder) => changeHeld((db) => void unpin(db, digest, holder)),
    markBlobs: (digests, holder, nowUs, untilUs) =>
      changeHeld((db) => {
        const artifacts = new Artifacts(db);
        for (const table of ["blob_pin", "blob_mark"])
          db.run(`DELETE FROM ${table} WHERE until_us <= ?`, nowUs);
        const isPinned = (digest: string) =>
          db.find("SELECT 1 FROM blob_pin WHERE sha256 = ? LIMIT 1", digest) !== undefined;
        if (isPinned(ALL_BLOBS)) return [];
        return digests.filter((digest) => {
          if (isPinned(digest) || artifacts.usedBlobs([digest]).length > 0) return false;
          const sql = "INSERT OR IGNORE INTO blob_mark (sha256, holder, until_us) VALUES (?, ?, ?)";
          return db.run(sql, digest, holder, untilUs).changes > 0;
        });
      }),
    unmarkBlobs: (holder, destroyed) =>
      change((db) => {
        db.run("DELETE FROM blob_mark WHERE holder = ?", holder);
        new Artifacts(db).forgetUnusedBlobs(destroyed);
      }, URGENT),
  };
}

/** The part of attaching a blob that keeps it: throws `aborted` unless the pin still exists, and removes it. */
export function takePin(db: Db, digest: string, holder: string): void {
  if (unpin(db, digest, holder)) return;
  throw new CairnError("aborted", `cannot attach blob ${quote(digest)}: its pin has ended`, {
    reason: "PIN_ENDED",
    hint: "upload it again",
  });
}

function unpin(db: Db, digest: string, holder: string): boolean {
  return db.run("DELETE FROM blob_pin WHERE sha256 = ? AND holder = ?", digest, holder).changes > 0;
}
