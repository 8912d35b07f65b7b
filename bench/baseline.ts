import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { statSync } from "node:fs";
import { mixSeries } from "#base/codec/testing/data-mix.ts";
import { cpuSeconds } from "./server.ts";

export interface Baseline {
  points: number;
  wallSeconds: number;
  cpuSeconds: number;
  bytesPerPoint: number;
}

/** What most trackers do: one row per point, here in SQLite at its best (no rowid, four batches per commit). */
export function rowPerPoint(directory: string, points: number): Baseline {
  const file = join(directory, "rows.db");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(`CREATE TABLE point (series INTEGER, step INTEGER, time INTEGER, value REAL,
    PRIMARY KEY (series, step, time)) WITHOUT ROWID`);
  const insert = db.prepare("INSERT INTO point VALUES (?, ?, ?, ?)");
  const series = Array.from({ length: 100 }, (_, i) => mixSeries(i, points / 100, 1));
  const cpuBefore = cpuSeconds("self");
  const began = performance.now();
  for (let from = 0; from < points / 100; from += 40) {
    db.exec("BEGIN");
    for (let batch = from; batch < from + 40; batch += 10) {
      series.forEach((one, id) => {
        for (let i = batch; i < Math.min(batch + 10, one.count); i++) {
          insert.run(id, one.steps![i]!, one.times![i]!, (one.values.data as Float64Array)[i]!);
        }
      });
    }
    db.exec("COMMIT");
  }
  const wallSeconds = (performance.now() - began) / 1000;
  const spent = cpuSeconds("self") - cpuBefore;
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return { points, wallSeconds, cpuSeconds: spent, bytesPerPoint: statSync(file).size / points };
}
