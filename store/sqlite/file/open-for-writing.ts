import { CairnError } from "#lang/errors.ts";
import { Db, isDiskFull } from "./db.ts";
import { createHeldTables } from "./held-tables.ts";
import type { Room } from "./room.ts";
import { configureWriter, migrate, requireKnownFormat } from "./schema.ts";

/**
 * Opens the database of a store and brings it up to date. On a full disk even that may fail; the reserved
 * space is used then, and `full` is the reason, so that the server starts and can delete.
 */
export function openForWriting(
  file: string,
  room: Room | undefined,
): { db: Db; full: CairnError | undefined } {
  try {
    return { db: open(file), full: undefined };
  } catch (thrown) {
    const error = CairnError.from(thrown);
    if (room === undefined || !isDiskFull(error)) throw error;
    room.release();
    return { db: open(file), full: error };
  }
}

function open(file: string): Db {
  const db = Db.open(file);
  try {
    requireKnownFormat(db, file);
    configureWriter(db);
    migrate(db, file);
    createHeldTables(db);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}
