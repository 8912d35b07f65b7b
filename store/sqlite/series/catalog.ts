import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { SeriesKind } from "#core/types/series.ts";
import { newSeriesState, type SeriesState } from "#core/series/state.ts";
import type { Db, Row } from "../file/db.ts";
import { decodeState, encodeState, KINDS, summaryStats, type SummaryStats } from "./state-blob.ts";

/** Few enough to be gone before the collector of old objects sees them. */
const SCANNED_AT_ONCE = 500;

export interface SeriesEntry {
  id: number;
  /** The key of its run, or of its host: below 0 (hosts.ts). */
  run: number;
  key: string;
  /** As labelsText writes them. */
  labels: string;
  /** Log rows up to here are in the chunks. */
  foldedPos: number;
  chunks: number;
  /** Description of lost points. */
  damaged: string | undefined;
  state: SeriesState;
  /** Its place in RecentSeries. */
  touchedPos: number;
  older: SeriesEntry | undefined;
  newer: SeriesEntry | undefined;
}

/** The series of all runs and hosts as the writing thread knows them: current to the last log row. */
export class Catalog {
  readonly #db: Db;
  readonly #byName = new Map<number, Map<string, SeriesEntry>>();
  readonly #byId = new Map<number, SeriesEntry>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** `name` as seriesName makes it. */
  find(run: number, name: string): SeriesEntry | undefined {
    const cached = this.#byName.get(run)?.get(name);
    if (cached !== undefined) return cached;
    const [key, labels] = splitName(name);
    const [entry] = findSeries(this.#db, "run = ? AND key = ? AND labels = ?", run, key, labels);
    if (entry !== undefined) this.#remember(entry, name);
    return entry;
  }

  findById(id: number): SeriesEntry | undefined {
    const cached = this.#byId.get(id);
    if (cached !== undefined) return cached;
    const [entry] = findSeries(this.#db, "id = ?", id);
    if (entry !== undefined) this.#remember(entry, seriesName(entry.key, entry.labels));
    return entry;
  }

  /** Only what is in memory: every series with rows in the log is. */
  peek(id: number): SeriesEntry | undefined {
    return this.#byId.get(id);
  }

  create(run: number, name: string, kind: SeriesKind): SeriesEntry {
    const [key, labels] = splitName(name);
    const state = newSeriesState(kind);
    const { lastId } = this.#db.run(
      "INSERT INTO series (run, key, labels, kind, folded_pos, chunks, state) VALUES (?, ?, ?, ?, 0, 0, ?)",
      run,
      key,
      labels,
      KINDS.indexOf(kind),
      encodeState(state),
    );
    const entry: SeriesEntry = {
      id: lastId,
      run,
      key,
      labels,
      foldedPos: 0,
      chunks: 0,
      damaged: undefined,
      state,
      touchedPos: 0,
      older: undefined,
      newer: undefined,
    };
    this.#remember(entry, name);
    return entry;
  }

  /** Throws `exhausted` when the run, or the host, may not have so many more series. */
  requireRoom(run: number, added: number): void {
    const sql =
      run < 0 ? "SELECT series_count FROM host WHERE id = -?" : "SELECT series_count FROM run WHERE key = ?";
    const known = Number(this.#db.find(sql, run)?.[0] ?? 0);
    if (known + added > limits.seriesPerRunMax) {
      const owner = run < 0 ? "host" : "run";
      throw new CairnError(
        "exhausted",
        `cannot add ${added} series to a ${owner} that has ${known}: the limit is ${limits.seriesPerRunMax}`,
        { reason: "LIMIT_EXCEEDED", hint: "put what varies into fewer keys or labels" },
      );
    }
  }

  /** Counts `added` new series of a run or a host; below 0 when some are gone. */
  reserve(run: number, added: number): void {
    const sql =
      run < 0
        ? "UPDATE host SET series_count = series_count + ? WHERE id = -?"
        : "UPDATE run SET series_count = series_count + ? WHERE key = ?";
    this.#db.run(sql, added, run);
  }

  /** Writes back a series whose log rows are all in chunks now. */
  save(entry: SeriesEntry): void {
    this.#db.run(
      "UPDATE series SET folded_pos = ?, chunks = ?, damaged = ?, state = ? WHERE id = ?",
      entry.foldedPos,
      entry.chunks,
      entry.damaged ?? null,
      encodeState(entry.state),
      entry.id,
    );
  }

  /** Removes the series from the store, without its chunks; `forgetSeries` removes it from memory. */
  remove(entry: SeriesEntry): void {
    this.#db.run("DELETE FROM series WHERE id = ?", entry.id);
    this.reserve(entry.run, -1);
  }

  forgetSeries(entry: SeriesEntry): void {
    this.#byId.delete(entry.id);
    this.#byName.get(entry.run)?.delete(seriesName(entry.key, entry.labels));
  }

  forget(): void {
    this.#byName.clear();
    this.#byId.clear();
  }

  /** Those of a run that are in memory. */
  ofRun(run: number): Iterable<SeriesEntry> {
    return this.#byName.get(run)?.values() ?? [];
  }

  forgetRun(run: number): void {
    for (const entry of this.ofRun(run)) this.#byId.delete(entry.id);
    this.#byName.delete(run);
  }

  get size(): number {
    return this.#byId.size;
  }

  #remember(entry: SeriesEntry, name: string): void {
    let names = this.#byName.get(entry.run);
    if (names === undefined) this.#byName.set(entry.run, (names = new Map()));
    names.set(name, entry);
    this.#byId.set(entry.id, entry);
  }
}

// Keys and labels hold no control characters.
const NAME_SEPARATOR = "\u0002";

export function seriesName(key: string, labels: string): string {
  return key + NAME_SEPARATOR + labels;
}

function splitName(name: string): [key: string, labels: string] {
  const at = name.indexOf(NAME_SEPARATOR);
  return [name.slice(0, at), name.slice(at + 1)];
}

export function requireKind(key: string, holds: SeriesKind, kind: SeriesKind): void {
  if (holds === kind) return;
  throw new CairnError(
    "invalid",
    `cannot append ${kind} values to series ${quote(key)}: it holds ${holds} values`,
    { reason: "KIND_MISMATCH", hint: "log the other kind of value under another key" },
  );
}

const STATE_DAMAGED = "its summary is damaged";
const COLUMNS = "id, run, key, labels, kind, folded_pos, chunks, damaged, state";

/** As stored: without what is still in the log. */
export function findSeries(db: Db, where: string, ...values: (string | number)[]): SeriesEntry[] {
  return db.all(`SELECT ${COLUMNS} FROM series WHERE ${where}`, ...values).map(toEntry);
}

/** The same one by one; must be read to its end or returned before it is used again. */
export function* eachSeries(db: Db, where: string, ...values: (string | number)[]): Generator<SeriesEntry> {
  for (const row of db.each(`SELECT ${COLUMNS} FROM series WHERE ${where}`, ...values)) yield toEntry(row);
}

/** A stored series with the numbers the feed needs, and nothing made of the rest. */
export interface StoredSummary {
  id: number;
  run: number;
  key: string;
  labels: string;
  stats: SummaryStats;
}

/** Series of numbers whose state is whole. */
export function* eachSummary(db: Db, where: string, ...values: number[]): Generator<StoredSummary> {
  const text = KINDS.indexOf("text");
  const sql = `SELECT id, run, key, labels, state FROM series WHERE kind <> ? AND ${where}`;
  for (const row of db.each(sql, text, ...values)) {
    const summary = toSummary(row);
    if (summary !== undefined) yield summary;
  }
}

/**
 * Of the next `limit` series after an id those of runs, as in `eachSummary`; undefined for each other, so that the caller
 * can count. In one pass, because the rows are large, and many at once, because SQLite gives single rows a quarter slower.
 */
export function* eachSummaryAfter(
  db: Db,
  after: number,
  limit: number,
): Generator<{ id: number; summary: StoredSummary | undefined }> {
  const text = KINDS.indexOf("text");
  const sql = `SELECT id, run, key, labels, iif(kind <> ? AND run > 0, state, NULL) FROM series
    WHERE id > ? ORDER BY id LIMIT ?`;
  let through = after;
  for (let left = limit; left > 0; left -= SCANNED_AT_ONCE) {
    const rows = db.all(sql, text, through, Math.min(left, SCANNED_AT_ONCE));
    for (const row of rows) {
      through = Number(row[0]);
      yield { id: through, summary: row[4] === null ? undefined : toSummary(row) };
    }
    if (rows.length < SCANNED_AT_ONCE) return;
  }
}

function toSummary([id, run, key, labels, state]: Row): StoredSummary | undefined {
  const stats = summaryStats(state as Uint8Array);
  return stats && { id: Number(id), run: Number(run), key: String(key), labels: String(labels), stats };
}

function toEntry([id, run, key, labels, kind, foldedPos, chunks, damaged, bytes]: Row): SeriesEntry {
  const seriesKind = KINDS[Number(kind)]!;
  // A series whose state is lost starts empty, so that everything else continues; its reads are refused.
  const state = decodeState(seriesKind, bytes as Uint8Array);
  return {
    id: Number(id),
    run: Number(run),
    key: String(key),
    labels: String(labels),
    foldedPos: Number(foldedPos),
    chunks: Number(chunks),
    damaged: damaged === null ? (state === undefined ? STATE_DAMAGED : undefined) : String(damaged),
    state: state ?? newSeriesState(seriesKind),
    touchedPos: 0,
    older: undefined,
    newer: undefined,
  };
}
