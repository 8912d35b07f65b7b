import { limits } from "#lang/limits.ts";
import type { Db } from "../file/db.ts";

const REPEAT_US = limits.repeatMs * 1000;
/** Expired ones of any run that are removed with every new one. */
const EXPIRED_AT_ONCE = 8;

/** Bodies that runs accepted recently, by their hashes. Call inside the transaction of the write. */
export class Repeats {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  has(run: number, hash: Uint8Array, nowUs: number): boolean {
    const row = this.#db.find("SELECT applied_us FROM repeat WHERE run = ? AND hash = ?", run, hash);
    return row !== undefined && Number(row[0]) > nowUs - REPEAT_US;
  }

  add(run: number, hash: Uint8Array, nowUs: number): void {
    const [last] = this.#db.find("SELECT max(number) FROM repeat WHERE run = ?", run)!;
    const number = Number(last) + 1;
    // The same body may be there, expired.
    this.#db.run(
      "INSERT OR REPLACE INTO repeat (run, number, hash, applied_us) VALUES (?, ?, ?, ?)",
      run,
      number,
      hash,
      nowUs,
    );
    this.#db.run("DELETE FROM repeat WHERE run = ? AND number <= ?", run, number - limits.repeatsPerRunMax);
    this.#db.run(
      `DELETE FROM repeat WHERE (run, number) IN
         (SELECT run, number FROM repeat WHERE applied_us <= ? ORDER BY applied_us LIMIT ${EXPIRED_AT_ONCE})`,
      nowUs - REPEAT_US,
    );
  }
}
