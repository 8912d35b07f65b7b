import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { TakenUpload, TakeUpload, UploadLedger } from "#core/ports/upload-ledger.ts";
import { URGENT, type JobOptions } from "../committer.ts";
import type { Db } from "../file/db.ts";

const OWNER_DIGITS = 32;
const FULL_RETRY_MS = 60_000;
/** After this long no request still waits for a turn that has ended. */
const FORGOTTEN_US = 3_600_000_000;

/** `change` and `changeHeld` as of StoreWriter. */
export function uploadWrites(
  change: <T>(work: (db: Db) => T, options?: JobOptions) => Promise<T>,
  changeHeld: <T>(work: (db: Db) => T) => Promise<T>,
): Omit<UploadLedger, "findUploads"> {
  return {
    takeUpload: (request) => change((db) => take(db, request)),
    renewUpload: (id, turn, nowUs, untilUs) =>
      changeHeld((db) => {
        const { changes } = db.run(
          "UPDATE upload_turn SET until_us = ? WHERE id = ? AND turn = ? AND until_us > ?",
          untilUs,
          id,
          turn,
          nowUs,
        );
        if (changes === 0) return "lost";
        return wantedOf(db, id) === null ? "kept" : "wanted";
      }),
    endTurn: (id, turn, nowUs, now) =>
      change((db) => {
        const ended = "UPDATE upload_turn SET turn = '', until_us = ? WHERE id = ? AND turn = ?";
        if (db.run(ended, nowUs, id, turn).changes === 0) return;
        // A waiting request must be the newest.
        db.run("DELETE FROM upload_turn WHERE id = ? AND wanted IS NULL", id);
        if (now === undefined) db.run("DELETE FROM upload WHERE id = ?", id);
        else if (now.touchedUs !== undefined) {
          db.run("UPDATE upload SET touched_us = ? WHERE id = ?", now.touchedUs, id);
        }
      }, URGENT),
    takeExpired: ({ beforeUs, turn, nowUs, untilUs, limit }) =>
      changeHeld((db) => {
        db.run("DELETE FROM upload_turn WHERE until_us < ?", nowUs - FORGOTTEN_US);
        const rows = db.all(
          `SELECT id FROM upload WHERE touched_us < ? AND NOT EXISTS (
             SELECT 1 FROM upload_turn WHERE upload_turn.id = upload.id AND until_us > ?) LIMIT ?`,
          beforeUs,
          nowUs,
          limit,
        );
        for (const [id] of rows) giveTurn(db, { id: String(id), turn, untilUs });
        return rows.map(([id]) => String(id));
      }),
  };
}

export function findUploads(db: Db, ids: readonly string[]): string[] {
  return ids.filter((id) => db.find("SELECT 1 FROM upload WHERE id = ?", id) !== undefined);
}

function take(db: Db, request: TakeUpload): TakenUpload {
  const { id, turn, core, nowUs, untilUs, again } = request;
  const current = db.find("SELECT turn, until_us FROM upload_turn WHERE id = ?", id);
  if (again && wantedOf(db, id) !== turn) return { state: "superseded" };
  const row = db.find("SELECT core, shared FROM upload WHERE id = ?", id);
  if (row === undefined && !request.begins) {
    db.run("DELETE FROM upload_turn WHERE id = ?", id);
    return { state: "absent" };
  }
  if (current !== undefined && current[0] !== "" && Number(current[1]) > nowUs) {
    db.run("UPDATE upload_turn SET wanted = ? WHERE id = ?", turn, id);
    return { state: "wait" };
  }
  if (row === undefined) {
    requireRoom(db, id);
    const sql = "INSERT INTO upload (id, owner, touched_us, core, shared) VALUES (?, ?, ?, ?, 0)";
    db.run(sql, id, ownerOf(id), nowUs, core);
  }
  giveTurn(db, { id, turn, untilUs });
  const shared = row !== undefined && (row[0] !== core || row[1] === 1);
  if (shared && row[1] === 0) db.run("UPDATE upload SET shared = 1 WHERE id = ?", id);
  return { state: "taken", shared };
}

function giveTurn(db: Db, { id, turn, untilUs }: { id: string; turn: string; untilUs: number }): void {
  const sql = "INSERT OR REPLACE INTO upload_turn (id, turn, until_us, wanted) VALUES (?, ?, ?, NULL)";
  db.run(sql, id, turn, untilUs);
}

/** null and undefined: no request waits. */
function wantedOf(db: Db, id: string): unknown {
  return db.find("SELECT wanted FROM upload_turn WHERE id = ?", id)?.[0];
}

function ownerOf(id: string): string {
  return id.slice(0, OWNER_DIGITS);
}

function requireRoom(db: Db, id: string): void {
  const [mine] = db.find("SELECT count(*) FROM upload WHERE owner = ?", ownerOf(id))!;
  const [all] = db.find("SELECT count(*) FROM upload")!;
  const ours = Number(mine) >= limits.uploadsPerPrincipalMax;
  if (!ours && Number(all) < limits.uploadsMax) return;
  const max = ours ? limits.uploadsPerPrincipalMax : limits.uploadsMax;
  throw new CairnError(
    "exhausted",
    `cannot begin another upload in pieces: ${ours ? "you have" : "there are"} ${max} unfinished ones`,
    {
      reason: "TOO_MANY_UPLOADS",
      facts: { limit: String(max) },
      hint: "finish some; uploads without a new piece are dropped after 24 hours",
      retryAfterMs: FULL_RETRY_MS,
    },
  );
}
