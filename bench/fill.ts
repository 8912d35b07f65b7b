import { join } from "node:path";
import { mkdirSync } from "node:fs";
import { encodeChunk, readChunkHeader } from "#base/codec/chunk.ts";
import { mixSeries } from "#base/codec/testing/data-mix.ts";
import { newRunId } from "#base/ids.ts";
import { addPoints, newSeriesState } from "#core/series/state.ts";
import { chunkId } from "#store/sqlite/series/chunks.ts";
import { Db } from "#store/sqlite/file/db.ts";
import { configureWriter, migrate } from "#store/sqlite/file/schema.ts";
import { encodeState } from "#store/sqlite/series/state-blob.ts";

const BATCH = 2_000;
const METRICS = 10;
export const PARAMS = 20;

/**
 * Writes many runs straight into a store file, because a million calls would take longer than all the rest: 20 params
 * of low cardinality and 10 metrics each, with `pointsPerSeries` points in a chunk.
 * They are in namespace "bench", or spread over "bench/n0", "bench/n1", … Returns their ids.
 */
export function fillRuns(directory: string, runs: number, pointsPerSeries: number, namespaces = 0): string[] {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "cairn.db");
  const db = Db.open(file);
  configureWriter(db);
  migrate(db, file);
  db.run("PRAGMA synchronous = OFF");
  const insertNamespace = (path: string) =>
    db.run("INSERT INTO namespace (path, description, created_us) VALUES (?, '', 0)", path).lastId;
  const bench = insertNamespace("bench");
  const homes = Array.from({ length: namespaces }, (_, i) => insertNamespace(`bench/n${i}`));
  const ids: string[] = [];
  // A few dozen different chunks are enough: only their number matters.
  const variants = Array.from({ length: 50 }, (_, i) => variant(i, pointsPerSeries));
  const createdUs = 1_700_000_000_000_000;
  for (let from = 0; from < runs; from += BATCH) {
    db.transaction("BEGIN", () => {
      for (let i = from; i < Math.min(runs, from + BATCH); i++) {
        const id = newRunId(createdUs / 1000 + i);
        ids.push(id);
        const run = db.run(
          `INSERT INTO run (id, namespace, name, status, created_us, started_us, ended_us, updated_us,
             series_count, aliases, tags, params, notes) VALUES (?, ?, ?, 'finished', ?, ?, ?, ?, ?, '[]', ?, ?, '')`,
          id,
          homes[i % namespaces] ?? bench,
          `run-${i}`,
          createdUs + i,
          createdUs + i,
          createdUs + i + 1_000_000,
          createdUs + i,
          METRICS,
          JSON.stringify([["team", ["asr", "mt", "vision"][i % 3]]]),
          paramsOf(i),
        ).lastId;
        for (let m = 0; m < METRICS; m++)
          insertSeries(db, run, m, i, variants[(i * 7 + m * 13) % variants.length]!);
      }
    });
  }
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return ids;
}

interface Variant {
  state: ReturnType<typeof newSeriesState>;
  chunk: Uint8Array;
  header: ReturnType<typeof readChunkHeader>;
  count: number;
}

function variant(index: number, count: number): Variant {
  const points = mixSeries(index, count, index);
  const state = newSeriesState("number");
  addPoints(state, points, 1);
  const chunk = encodeChunk(points);
  return { state, chunk, header: readChunkHeader(chunk), count };
}

function insertSeries(db: Db, run: number, metric: number, i: number, one: Variant): void {
  const { state, chunk, header, count } = one;
  // Every run has its own last value, so that a ranking has no ties.
  const last = { ...state.summary.last!, value: noise(i * 31 + metric) };
  const own = { ...state, summary: { ...state.summary, last } };
  const series = db.run(
    "INSERT INTO series (run, key, labels, kind, folded_pos, chunks, state) VALUES (?, ?, '', 0, 0, 1, ?)",
    run,
    `m${metric}`,
    encodeState(own),
  ).lastId;
  db.run(
    "INSERT INTO chunk (id, first_ordinal, count, step_min, step_max, time_min, time_max, body) VALUES (?, 0, ?, ?, ?, ?, ?, ?)",
    chunkId(series, 0),
    count,
    header.stepMin ?? null,
    header.stepMax ?? null,
    header.timeMin ?? null,
    header.timeMax ?? null,
    chunk,
  );
}

function paramsOf(i: number): string {
  const entries = Array.from({ length: PARAMS }, (_, p) => {
    const value = Math.floor(noise(i * 17 + p * 7919) * (3 + p * 3));
    return p % 2 === 0 ? `"p${p}":${value}` : `"p${p}":"v${value}"`;
  });
  return `{${entries.join(",")}}`;
}

/** The same number for the same index, spread evenly over 0 to 1. */
export function noise(index: number): number {
  let hash = Math.imul(index + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
