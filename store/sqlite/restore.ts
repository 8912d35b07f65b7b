import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { CairnError } from "#core/errors.ts";
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

/** Puts a copy in the place of a closed store: a kill at any instant leaves the old one or the new one. */
export function replaceFile(file: string, copy: string): void {
  const staged = `${file}.restoring`;
  copyFileSync(copy, staged);
  syncPath(staged);
  // The old log belongs to the old file only; the writer emptied it when it closed.
  rmSync(`${file}-wal`, { force: true });
  rmSync(`${file}-shm`, { force: true });
  renameSync(staged, file);
  syncPath(dirname(file));
}

function syncPath(path: string): void {
  const handle = openSync(path, "r");
  fsyncSync(handle);
  closeSync(handle);
}
