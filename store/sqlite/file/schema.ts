import { readdirSync, readFileSync } from "node:fs";
import { CairnError } from "#lang/errors.ts";
import type { Db } from "./db.ts";

const migrations = readdirSync(new URL("./migrations/", import.meta.url))
  .filter((file) => file.endsWith(".sql"))
  .sort();

/** The number of the newest migration; a store file carries the one it is at. */
export const FORMAT_VERSION = migrations.length;

export function formatVersion(db: Db): number {
  return Number(db.find("PRAGMA user_version")![0]);
}

/**
 * Brings the schema up to date, one migration per transaction: a kill at any instant leaves the file
 * at one version or the next. A migration may replace a table that others refer to, so foreign keys
 * are off meanwhile.
 */
export function migrate(db: Db, file: string): void {
  requireKnownFormat(db, file);
  if (formatVersion(db) === FORMAT_VERSION) return;
  db.exec("PRAGMA foreign_keys = OFF");
  for (let version = formatVersion(db); version < FORMAT_VERSION; version++) {
    const sql = readFileSync(new URL(`./migrations/${migrations[version]}`, import.meta.url), "utf8");
    db.transaction("BEGIN IMMEDIATE", () => {
      db.exec(sql);
      db.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
  db.exec("PRAGMA foreign_keys = ON");
}

/** Throws `precondition` for a file from a newer Cairn, which must not be changed. */
export function requireKnownFormat(db: Db, file: string): void {
  const found = formatVersion(db);
  if (found > FORMAT_VERSION) {
    throw new CairnError(
      "precondition",
      `cannot open store "${file}": its format ${found} is newer than ${FORMAT_VERSION}, the newest this Cairn knows`,
      { reason: "STORE_TOO_NEW", hint: "start the Cairn version that wrote it, or a later one" },
    );
  }
}

const LOGGED_PAGES_MAX = 4_000;

/**
 * Moves the write-ahead log into the file once it is long, as SQLite would by itself; but SQLite does
 * not report errors then, and a failed fsync must not be ignored.
 */
export function shortenWal(db: Db): void {
  const [, logged, moved] = db.find("PRAGMA wal_checkpoint(NOOP)")!;
  if (Number(logged) - Number(moved) >= LOGGED_PAGES_MAX) db.run("PRAGMA wal_checkpoint(PASSIVE)");
}

/** Moves the write-ahead log into the file as far as readers allow: this never waits for a long read. */
export function emptyWal(db: Db): void {
  const [waitMs] = db.find("PRAGMA busy_timeout")!;
  db.exec("PRAGMA busy_timeout = 0");
  try {
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.exec(`PRAGMA busy_timeout = ${Number(waitMs)}`);
  }
}

const RETURNED_PAGES = 256;
const RETURNS_MAX = 64;

/** Returns free pages to the disk, a few at a time, so that the log stays small. */
export function returnPages(db: Db): void {
  emptyWal(db);
  for (let i = 0; i < RETURNS_MAX && Number(db.find("PRAGMA freelist_count")![0]) > 0; i++) {
    db.all(`PRAGMA incremental_vacuum(${RETURNED_PAGES})`);
    emptyWal(db);
  }
}

/** Settings of a connection that writes. auto_vacuum only takes effect on an empty file. */
export function configureWriter(db: Db): void {
  db.exec("PRAGMA page_size = 4096");
  db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA wal_autocheckpoint = 0");
  db.exec("PRAGMA cache_size = -16384");
  db.exec("PRAGMA temp_store = MEMORY");
}
