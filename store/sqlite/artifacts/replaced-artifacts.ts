import { withFacts } from "#core/access/audit/audit-record.ts";
import { limits } from "#lang/limits.ts";
import type { ReplacedArtifact } from "#core/types/artifact.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import type { ListReplaced } from "#core/ports/artifact-store.ts";
import type { ListPart } from "#core/ports/list-part.ts";
import { dropArtifactAccess } from "../access/access.ts";
import { ARTIFACT_COLUMNS, NO_STEP, toArtifact } from "./artifact-row.ts";
import type { Db, Row, Value } from "../file/db.ts";
import { takePage } from "../runs/page.ts";

const COPIED = `run, name, step, kind, place, uri, sha256, size_bytes, media_type, metadata, created_us, created_by`;
/** The declared size of a reference takes no space here. */
const BYTES = "CASE place WHEN 'reference' THEN 0 ELSE coalesce(size_bytes, 0) END";
/** Written by the principal that replaced it. */
const IS_OWN = "created_by = replaced_by";

/** The artifact that a write has replaced. */
export interface Replacement {
  createdBy: string;
  /** undefined when it could not be kept. */
  version: number | undefined;
}

interface Destroyed {
  count: number;
  /** Bindings on names without any artifact or version were deleted, too. */
  changesAccess: boolean;
}

export function replacementRecord(record: AuditRecord, { createdBy, version }: Replacement): AuditRecord {
  return withFacts(record, {
    ...(createdBy !== "" && { author: createdBy }),
    ...(version !== undefined && { version: String(version) }),
  });
}

/** Artifacts that were replaced or deleted, for a while. Callers wrap writes in a transaction or savepoint. */
export class ReplacedArtifacts {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Moves an artifact here, or all steps of a name. Of what one principal overwrites itself two versions stay: the
   * last one, and the one that was in place longest, which a few quick writes with a stolen token cannot evict.
   * There are bounds per artifact and per run; versions over them are destroyed, except the newest one of each author.
   */
  keep(run: number, name: string, step: number | undefined | "all", nowUs: number, by: string): number {
    const where = step === "all" ? "run = ? AND name = ?" : "run = ? AND name = ? AND step = ?";
    const values: Value[] = step === "all" ? [run, name] : [run, name, step ?? NO_STEP];
    const known = this.#db.find("SELECT last FROM replaced_version WHERE run = ? AND name = ?", run, name);
    const last = Number(known?.[0] ?? 0);
    const { changes: kept } = this.#db.run(
      `INSERT INTO replaced_artifact (${COPIED}, replaced_us, replaced_by, content, version)
       SELECT ${COPIED}, ?, ?, content, ? + row_number() OVER (ORDER BY step)
       FROM artifact LEFT JOIN artifact_content ON artifact = artifact.id
       WHERE ${where} AND ${BYTES} <= ? ORDER BY step`,
      nowUs,
      by,
      last,
      ...values,
      limits.replacedBytesPerRunMax,
    );
    if (kept > 0) {
      this.#db.run(
        "INSERT OR REPLACE INTO replaced_version (run, name, last) VALUES (?, ?, ?)",
        run,
        name,
        last + kept,
      );
    }
    const { changes } = this.#db.run(`DELETE FROM artifact WHERE ${where}`, ...values);
    this.#trim(run, name);
    return changes;
  }

  /** The newest version of an artifact; undefined when there is none. */
  latest(run: number, name: string, step: number | undefined): number | undefined {
    const row = this.#db.find(
      "SELECT max(version) FROM replaced_artifact WHERE run = ? AND name = ? AND step = ?",
      run,
      name,
      step ?? NO_STEP,
    );
    return row === undefined || row[0] === null ? undefined : Number(row[0]);
  }

  /** Newest first. */
  list(run: number, { runId, prefix, after, ...bound }: ListReplaced): ListPart<ReplacedArtifact> {
    const rows = this.#db.each(
      `SELECT ${ARTIFACT_COLUMNS}, version, replaced_us, replaced_by FROM replaced_artifact AS artifact
       WHERE run = ?1 AND (replaced_us, name, version) < (?2, ?3, ?4) AND substr(name, 1, length(?5)) = ?5
       ORDER BY replaced_us DESC, name DESC, version DESC LIMIT ?6`,
      run,
      after?.replacedUs ?? Number.MAX_SAFE_INTEGER,
      after?.name ?? "",
      after?.version ?? 0,
      prefix,
      bound.limit + 1,
    );
    const page = takePage(rows, bound);
    return { rows: page.rows.map((row) => toReplaced(runId, row)), more: page.more };
  }

  /** Takes a version out, with everything of its row: to become an artifact again. */
  take(run: number, name: string, version: number): { row: Row; step: number | undefined } | undefined {
    const row = this.#db.find(
      `SELECT ${COPIED}, content FROM replaced_artifact WHERE run = ? AND name = ? AND version = ?`,
      run,
      name,
      version,
    );
    if (row === undefined) return undefined;
    this.#db.run(
      "DELETE FROM replaced_artifact WHERE run = ? AND name = ? AND version = ?",
      run,
      name,
      version,
    );
    return { row, step: row[2] === NO_STEP ? undefined : Number(row[2]) };
  }

  /** Those of a run, or of one name in it. */
  purge(run: number, name: string | undefined): Destroyed {
    const more = name === undefined ? "" : " AND name = ?";
    return this.#destroy(`run = ?${more}`, name === undefined ? [run] : [run, name]);
  }

  expire(beforeUs: number, limit: number): Destroyed {
    const oldest = "SELECT id FROM replaced_artifact WHERE replaced_us < ? ORDER BY replaced_us LIMIT ?";
    return this.#destroy(`id IN (${oldest})`, [beforeUs, limit]);
  }

  #destroy(where: string, values: readonly Value[]): Destroyed {
    const names = this.#db.all(`SELECT DISTINCT run, name FROM replaced_artifact WHERE ${where}`, ...values);
    const { changes } = this.#db.run(`DELETE FROM replaced_artifact WHERE ${where}`, ...values);
    let changesAccess = false;
    for (const [run, name] of names) {
      if (this.#isThere(Number(run), String(name))) continue;
      const [runId] = this.#db.find("SELECT id FROM run WHERE key = ?", Number(run))!;
      if (dropArtifactAccess(this.#db, String(runId), String(name))) changesAccess = true;
      this.#db.run("DELETE FROM replaced_version WHERE run = ? AND name = ?", Number(run), String(name));
    }
    return { count: changes, changesAccess };
  }

  #isThere(run: number, name: string): boolean {
    return ["artifact", "replaced_artifact"].some(
      (table) =>
        this.#db.find(`SELECT 1 FROM ${table} WHERE run = ? AND name = ? LIMIT 1`, run, name) !== undefined,
    );
  }

  #trim(run: number, name: string): void {
    this.#db.run(
      `DELETE FROM replaced_artifact WHERE id IN (
         SELECT id FROM (
           SELECT id, ${IS_OWN} AS own,
             row_number() OVER (PARTITION BY step ORDER BY id DESC) AS nth,
             row_number() OVER (PARTITION BY step, created_by ORDER BY id DESC) AS nth_of_author,
             row_number() OVER (PARTITION BY step, created_by, ${IS_OWN} ORDER BY id DESC) AS nth_own,
             row_number() OVER (PARTITION BY step, created_by, ${IS_OWN}
               ORDER BY replaced_us - created_us DESC, id DESC) AS nth_longest
           FROM replaced_artifact WHERE run = ? AND name = ?)
         WHERE own AND nth_own > 1 AND nth_longest > 1 OR nth > ? AND nth_of_author > 1)`,
      run,
      name,
      limits.replacedPerArtifactMax,
    );
    const [count, bytes] = this.#db.find(
      `SELECT count(*), coalesce(sum(${BYTES}), 0) FROM replaced_artifact WHERE run = ?`,
      run,
    )!;
    let tooMany = Number(count) - limits.replacedPerRunMax;
    let tooLarge = Number(bytes) - limits.replacedBytesPerRunMax;
    if (tooMany <= 0 && tooLarge <= 0) return;
    // Versions that a principal has overwritten itself are evicted first: they must not evict those of others.
    const order = `SELECT id, ${BYTES} FROM replaced_artifact WHERE run = ? ORDER BY NOT (${IS_OWN}), id`;
    for (const [id, size] of this.#db.all(order, run)) {
      if (tooMany <= 0 && tooLarge <= 0) return;
      this.#db.run("DELETE FROM replaced_artifact WHERE id = ?", Number(id));
      tooMany--;
      tooLarge -= Number(size);
    }
  }
}

function toReplaced(runId: string, row: Row): ReplacedArtifact {
  const [version, replacedUs, replacedBy] = row.slice(11);
  return {
    ...toArtifact(runId, row),
    version: Number(version),
    replacedUs: Number(replacedUs),
    replacedBy: String(replacedBy),
  };
}
