import { CairnError, quote } from "#lang/errors.ts";
import { ancestors } from "#lang/namespace-path.ts";
import { namespaceDeleted, notInTrash } from "#core/runs/trash-refusal.ts";
import type { Db } from "../file/db.ts";

const SUBTREE = "(path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0'))";

/**
 * Namespaces in the trash. `deleted_us` is the mark of one that was put there, `trashed_us` that of everything in it and below it.
 * Each step costs as much as there are namespaces below. Call inside a transaction.
 */
export class NamespaceTrash {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Throws `precondition` (NAMESPACE_DELETED) for one that is in the trash; nothing where there is none. */
  requireOutside(verb: string, path: string): void {
    const row = this.#db.find("SELECT trashed_us FROM namespace WHERE path = ?", path);
    if (row === undefined || row[0] === null) return;
    throw namespaceDeleted(verb, path, this.#deletedAbove([...ancestors(path), path])!);
  }

  /** Throws `precondition` (NOT_IN_TRASH) for one that is not in the trash; nothing where there is none. */
  requireInside(verb: string, path: string): void {
    const row = this.#db.find("SELECT trashed_us FROM namespace WHERE path = ?", path);
    if (row?.[0] === null) throw notInTrash(verb, path);
  }

  /** Into the trash (a time) or out of it (undefined). Returns whether that changed anything. */
  set(path: string, deletedUs: number | undefined, by: string): boolean {
    const row = this.#db.find("SELECT deleted_us FROM namespace WHERE path = ?", path);
    if (row === undefined) throw new CairnError("not-found", `cannot find namespace ${quote(path)}`);
    const isDeleted = row[0] !== null;
    if (deletedUs !== undefined) {
      if (isDeleted) return false;
      this.requireOutside("delete", path);
      this.#db.run("UPDATE namespace SET deleted_us = ?, deleted_by = ? WHERE path = ?", deletedUs, by, path);
      this.#mark(path, deletedUs, by);
      return true;
    }
    const above = this.#deletedAbove(ancestors(path));
    if (above !== undefined) throw namespaceDeleted("restore", path, above);
    if (!isDeleted) return false;
    this.#db.run("UPDATE namespace SET deleted_us = NULL, deleted_by = '' WHERE path = ?", path);
    this.#db.run(`UPDATE namespace SET trashed_us = NULL, trashed_by = '' WHERE ${SUBTREE}`, path);
    // Those below that were put there by themselves stay.
    const below = `SELECT path, deleted_us, deleted_by FROM namespace WHERE ${SUBTREE} AND deleted_us IS NOT NULL ORDER BY path`;
    for (const [own, us, who] of this.#db.all(below, path)) this.#mark(String(own), Number(us), String(who));
    return true;
  }

  #mark(path: string, trashedUs: number, by: string): void {
    const sql = `UPDATE namespace SET trashed_us = ?2, trashed_by = ?3 WHERE ${SUBTREE} AND trashed_us IS NULL`;
    this.#db.run(sql, path, trashedUs, by);
  }

  /** The highest of them that is in the trash by itself. */
  #deletedAbove(paths: readonly string[]): string | undefined {
    const row = this.#db.find(
      `SELECT path FROM namespace WHERE path IN (SELECT value FROM json_each(?)) AND deleted_us IS NOT NULL
       ORDER BY length(path) LIMIT 1`,
      JSON.stringify(paths),
    );
    return row === undefined ? undefined : String(row[0]);
  }
}
