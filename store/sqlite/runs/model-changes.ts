import type { ModelFeed, ModelFeedRow } from "#core/ports/run-changes.ts";
import { NO_STEP } from "../artifacts/artifact-row.ts";
import type { Db, Row } from "../file/db.ts";

const COLUMNS = "id, run, name, step, size_bytes, created_us";

/** Which models changed, by the id of their artifact, and what they are now. */
export class ModelChanges {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Ids of models of which something changed after one position, up to another. */
  changedIn(after: number, upTo: number): number[] {
    const sql = "SELECT artifact FROM changed_model WHERE pos > ? AND pos <= ?";
    return this.#db.all(sql, after, upTo).map(([id]) => Number(id));
  }

  /** As they are now; those that are not there, or of another kind, are gone. */
  read(ids: Iterable<number>): ModelFeed {
    const feed: ModelFeed = { gone: [], rows: [] };
    for (const id of ids) {
      const row = this.#db.find(`SELECT ${COLUMNS} FROM artifact WHERE id = ? AND kind = 'model'`, id);
      if (row === undefined) feed.gone.push(id);
      else feed.rows.push(toRow(row));
    }
    return feed;
  }

  /** All models after an id, rising by id. */
  scanAfter(id: number, limit: number): ModelFeedRow[] {
    // SQLite might go through the table, where content of other kinds lies in between.
    const from = "artifact INDEXED BY artifact_model";
    const sql = `SELECT ${COLUMNS} FROM ${from} WHERE kind = 'model' AND id > ? ORDER BY id LIMIT ?`;
    return this.#db.all(sql, id, limit).map(toRow);
  }
}

function toRow([id, run, name, step, size, created]: Row): ModelFeedRow {
  return {
    key: Number(id),
    run: Number(run),
    name: String(name),
    step: step === NO_STEP ? undefined : Number(step),
    sizeBytes: size === null ? undefined : Number(size),
    createdUs: Number(created),
  };
}
