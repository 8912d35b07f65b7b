import type { Db } from "./db.ts";

/**
 * What cores hold for a while. One process has the store to itself, and what its cores held is void when it has ended:
 * these tables are the writing connection's own, in memory, and cost no sync. All that reads them goes to the writer.
 */
export function createHeldTables(db: Db): void {
  db.exec(`
    CREATE TEMP TABLE lease (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      until_us INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `);
}
