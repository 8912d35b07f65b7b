import type { Db, Row } from "./db.ts";

const TABLES = ["lease", "blob_pin", "blob_mark", "upload_turn"] as const;

/**
 * Leases, pins and turns of cores. One process uses the store, and those of its cores are void when it has ended:
 * these tables are the writing connection's own, in memory, and cost no sync. All reads of them use the writer.
 */
export function createHeldTables(db: Db): void {
  db.exec(`
    CREATE TEMP TABLE lease (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      until_us INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- sha256 is hex, "" for all.
    CREATE TEMP TABLE blob_pin (
      sha256 TEXT NOT NULL,
      holder TEXT NOT NULL,
      until_us INTEGER NOT NULL,
      PRIMARY KEY (sha256, holder)
    ) STRICT, WITHOUT ROWID;

    -- turn is "" when it has ended, wanted the newest request that waits.
    CREATE TEMP TABLE upload_turn (
      id TEXT PRIMARY KEY,
      turn TEXT NOT NULL,
      until_us INTEGER NOT NULL,
      wanted TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE TEMP TABLE blob_mark (
      sha256 TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      until_us INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `);
}

export type Held = ReadonlyMap<string, readonly Row[]>;

/** For the connection that replaces this one: a restore does not end work of cores. */
export function readHeld(db: Db): Held {
  return new Map(TABLES.map((table) => [table, db.all(`SELECT * FROM ${table}`)]));
}

export function writeHeld(db: Db, held: Held): void {
  for (const [table, rows] of held) {
    for (const row of rows) db.run(`INSERT INTO ${table} VALUES (${row.map(() => "?").join()})`, ...row);
  }
}
