import { CairnError } from "#lang/errors.ts";
import { Db, isDiskFull } from "./db.ts";
import { createHeldTables } from "./held-tables.ts";
import type { Room } from "./room.ts";
import { configureWriter, migrate, requireKnownFormat } from "./schema.ts";

/**
 * Opens the database of a store and brings it up to date. On a disk without room even that may fail; the room
 * that was kept is used then, and `full` says why, so that the server starts and can be asked to delete.
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
