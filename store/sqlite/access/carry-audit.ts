import { rmSync } from "node:fs";
import { CairnError } from "#lang/errors.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import { appendAudit } from "./audit.ts";
import { Db } from "../file/db.ts";
import { beginAbove } from "../journal/journal.ts";
import { syncPath } from "../file/restore.ts";
import { migrate } from "../file/schema.ts";

/**
 * Puts the audit of the store in `file`, and `record` at its end, into the copy that is about to replace
 * it: a restore must not erase the audit since the copy was made. For the same
 * reason tokens that were revoked since then are removed from it. Its journal begins above `position`, the last one of
 * the store. Neither file may be open elsewhere.
 */
export function carryAudit(file: string, staged: string, position: number, record: AuditRecord): void {
  // Left over from an interrupted restore, they would be used as parts of this copy.
  for (const part of ["-journal", "-wal", "-shm"]) rmSync(staged + part, { force: true });
  const db = Db.open(staged);
  try {
    // The copy is deleted when anything fails, so no rollback is needed.
    db.exec("PRAGMA journal_mode = MEMORY");
    migrate(db, staged);
    try {
      db.run("ATTACH ? AS present", file);
      db.transaction("BEGIN IMMEDIATE", () => replaceAudit(db, record));
    } catch (thrown) {
      if (CairnError.from(thrown).code !== "corrupt") throw thrown;
      // A damaged store must not prevent a restore.
      const facts = { ...record.facts, audit: "as in the copy, because the present one is damaged" };
      db.transaction("BEGIN IMMEDIATE", () => appendAudit(db, { ...record, facts }));
    }
    db.transaction("BEGIN IMMEDIATE", () => beginAbove(db, position));
  } finally {
    db.close();
  }
  syncPath(staged);
}

function replaceAudit(db: Db, record: AuditRecord): void {
  withoutTriggers(db, () => {
    db.exec("DELETE FROM main.audit");
    db.exec("INSERT INTO main.audit SELECT * FROM present.audit");
    db.exec("DELETE FROM main.audit_head");
    db.exec("INSERT INTO main.audit_head SELECT * FROM present.audit_head");
  });
  db.exec(
    `DELETE FROM main.token WHERE id IN (
       SELECT CASE WHEN json_valid(facts) THEN json_extract(facts, '$.token') END
       FROM main.audit WHERE action IN ('revoke-token', 'log-out'))`,
  );
  // A password that was changed since then ended what it had made.
  db.exec(
    `DELETE FROM main.token WHERE password_of IS NOT NULL AND EXISTS (
       SELECT 1 FROM main.audit
       WHERE target = password_of AND action IN ('change-password', 'update-principal')
         AND time_us >= created_us AND json_valid(facts) AND json_extract(facts, '$.password') IS NOT NULL)`,
  );
  dropOrphans(db);
  appendAudit(db, record);
}

/** A token ends with the one it was made with. */
function dropOrphans(db: Db): void {
  const orphans = "parent IS NOT NULL AND parent NOT IN (SELECT id FROM main.token)";
  while (db.find(`SELECT 1 FROM main.token WHERE ${orphans}`) !== undefined) {
    db.exec(`DELETE FROM main.token WHERE ${orphans}`);
  }
}

/** They keep the audit from being changed, and are restored unchanged. */
function withoutTriggers(db: Db, work: () => void): void {
  const triggers = db.all(
    "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('audit', 'audit_head')",
  );
  for (const [name] of triggers) db.exec(`DROP TRIGGER main.${String(name)}`);
  work();
  for (const [, sql] of triggers) db.exec(String(sql));
}
