import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { CairnError } from "#lang/errors.ts";
import { Db } from "./db.ts";
import { FORMAT_VERSION, formatVersion } from "./schema.ts";

/** Throws unless `file` is a whole copy that this Cairn can open. */
export function checkCopy(file: string): void {
  if (!existsSync(file)) throw new CairnError("not-found", `cannot restore backup "${file}": no such file`);
  const db = Db.open(file, { readOnly: true });
  try {
    const version = formatVersion(db);
    const [verdict] = db.find("PRAGMA integrity_check(1)")!;
    if (version < 1 || version > FORMAT_VERSION || verdict !== "ok") {
      throw new CairnError(
        "precondition",
        `cannot restore backup "${file}": format ${version}, integrity check says ${String(verdict)}`,
        { reason: "BACKUP_UNUSABLE", hint: "choose another backup" },
      );
    }
  } finally {
    db.close();
  }
}

/** Puts a copy beside the store, whole and synced. Returns its path. */
export function stageCopy(file: string, copy: string): string {
  const staged = `${file}.restoring`;
  try {
    copyFileSync(copy, staged);
    syncPath(staged);
  } catch (cause) {
    rmSync(staged, { force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CairnError("unavailable", `cannot restore backup "${copy}": ${reason}`, {
      cause,
      hint: "there must be space for a second copy of it in the data directory",
    });
  }
  return staged;
}

/** Replaces the closed store by the copy: a kill at any instant leaves the old one or the new one. */
export function replaceFile(file: string, staged: string): void {
  const log = `${file}-wal`;
  // Closing moved the log into the old file, unless another program held it open.
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new CairnError("unavailable", "cannot restore: another program reads the store", {
      hint: "close it and try again",
    });
  }
  // A log belongs to its own file only.
  rmSync(log, { force: true });
  rmSync(`${file}-shm`, { force: true });
  renameSync(staged, file);
  syncPath(dirname(file));
}

/** Makes a file or a directory durable against power loss. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  fsyncSync(handle);
  closeSync(handle);
}
