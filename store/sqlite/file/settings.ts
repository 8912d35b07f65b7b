import type { Db } from "./db.ts";

/** The store's own small map, see RunStore.getSetting. */
export function findSetting(db: Db, name: string): string | undefined {
  const row = db.find("SELECT value FROM setting WHERE name = ?", name);
  return row === undefined ? undefined : String(row[0]);
}

export function initSetting(db: Db, name: string, value: string): string {
  db.run("INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)", name, value);
  return findSetting(db, name)!;
}
