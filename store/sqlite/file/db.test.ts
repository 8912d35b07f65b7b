import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Db } from "./db.ts";

describe("a connection that only reads", () => {
  let folder: string;
  let writer: Db;
  let reader: Db;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cairn-db-"));
    writer = Db.open(join(folder, "cairn.db"));
    writer.exec("PRAGMA journal_mode = WAL");
    writer.exec("CREATE TABLE run (id TEXT)");
    writer.run("INSERT INTO run VALUES (?)", "one");
    reader = Db.open(join(folder, "cairn.db"), { readOnly: true });
  });
  afterEach(() => {
    reader.close();
    writer.close();
    rmSync(folder, { recursive: true });
  });

  it("S10 reads, in transactions and recursively, and tells about the file", () => {
    expect(reader.snapshot(() => reader.all("SELECT upper(id) FROM run"))).toEqual([["ONE"]]);
    const numbers =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT x FROM n";
    expect(reader.all(numbers)).toEqual([[1], [2], [3]]);
    expect(reader.find("PRAGMA integrity_check(10)")).toEqual(["ok"]);
    expect(Number(reader.find("PRAGMA page_count")![0])).toBeGreaterThan(0);
  });

  it("S10 prepares nothing that attaches, writes, sets or loads", () => {
    const other = join(folder, "other.db");
    const refused = [
      `ATTACH '${other}' AS other`,
      "ATTACH ':memory:' AS other",
      "DETACH main",
      `VACUUM INTO '${other}'`,
      "VACUUM",
      "SELECT load_extension('/tmp/evil.so')",
      "PRAGMA writable_schema = 1",
      "PRAGMA journal_mode = DELETE",
      "PRAGMA journal_mode",
      "PRAGMA query_only = 0",
      "PRAGMA user_version = 99",
      "PRAGMA page_size = 512",
      "PRAGMA busy_timeout = 0",
      "PRAGMA wal_checkpoint(TRUNCATE)",
      "PRAGMA temp_store_directory = '/'",
      "INSERT INTO run VALUES ('two')",
      "UPDATE run SET id = 'two'",
      "DELETE FROM run",
      "DROP TABLE run",
      "CREATE TABLE more (x)",
      "CREATE TEMP TABLE more (x)",
      "CREATE TEMP VIEW more AS SELECT 1",
      "CREATE VIRTUAL TABLE more USING fts5(x)",
      "ALTER TABLE run ADD COLUMN more",
      "ANALYZE",
    ];
    for (const sql of refused) {
      for (const work of [() => reader.all(sql), () => reader.exec(sql), () => reader.run(sql)]) {
        expect(work, sql).toThrow(/not authorized|authorization denied/);
      }
    }
    expect(existsSync(other)).toBe(false);
    expect(writer.all("SELECT id FROM run")).toEqual([["one"]]);
  });

  it("S10 copies the whole file, and may attach nothing after that", () => {
    const copy = join(folder, "copy.db");
    reader.copyTo(copy);
    const copied = Db.open(copy, { readOnly: true });
    expect(copied.all("SELECT id FROM run")).toEqual([["one"]]);
    copied.close();
    expect(() => reader.run("VACUUM INTO ?", join(folder, "second.db"))).toThrow("authorization denied");
    expect(() => reader.copyTo(copy)).toThrow();
    expect(() => reader.exec("ATTACH ':memory:' AS other")).toThrow("not authorized");
  });
});
