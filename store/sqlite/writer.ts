import { CairnError, quote } from "#core/errors.ts";
import type { EnvelopeAck } from "#core/model/envelope.ts";
import type { RunFeed } from "#core/ports/run-search.ts";
import { Appender, type PackedEnvelope } from "./append.ts";
import { Catalog, type SeriesEntry } from "./catalog.ts";
import { chunkId } from "./chunks.ts";
import { Committer } from "./committer.ts";
import { Db } from "./db.ts";
import { Feed } from "./feed.ts";
import { Fold, keepPosition, keptPosition } from "./fold.ts";
import { Ledger } from "./ledger.ts";
import { LOG_COLUMNS, readLogRow } from "./log.ts";
import { Namespaces } from "./namespaces.ts";
import { StoreReader } from "./store-reader.ts";
import { Runs, type StoredRun } from "./runs.ts";
import { configureWriter, emptyWal, migrate, requireKnownFormat } from "./schema.ts";
import { Tail } from "./tail.ts";

const CACHED_SERIES_MAX = 200_000;
const CACHED_WRITERS_MAX = 50_000;
const FOLD_AFTER_MS = 30_000;

/**
 * The one connection that writes, with everything it keeps in memory beside the file. It lives on the
 * storage thread. What it holds in memory can always be made anew from the file, which is what happens
 * after a rollback.
 */
export class StoreWriter {
  readonly #db: Db;
  readonly #file: string;
  readonly #tail = new Tail();
  readonly #namespaces: Namespaces;
  readonly #runs: Runs;
  readonly #ledger: Ledger;
  readonly #catalog: Catalog;
  readonly #appender: Appender;
  readonly #fold: Fold;
  readonly #feed: Feed;
  readonly #committer: Committer;
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(file: string, port: RunFeed, feedPosition = 0) {
    this.#file = file;
    this.#db = Db.open(file);
    const db = this.#db;
    requireKnownFormat(db, file);
    configureWriter(db);
    migrate(db, file);
    this.#namespaces = new Namespaces(db);
    this.#runs = new Runs(db, this.#namespaces);
    this.#ledger = new Ledger(db);
    this.#catalog = new Catalog(db);
    const shared = { db, runs: this.#runs, ledger: this.#ledger, catalog: this.#catalog, tail: this.#tail };
    this.#appender = new Appender(shared);
    this.#fold = new Fold(shared);
    this.#feed = new Feed({ port, db, runs: this.#runs, position: feedPosition });
    this.#committer = new Committer({
      db,
      background: this.#fold,
      beforeCommit: () => this.#ledger.flush(),
      onRollback: () => this.#reload(),
    });
    this.#reload();
    this.#timer = setInterval(() => this.#tend(), FOLD_AFTER_MS);
  }

  /** Reads through this very connection: the only one there is for a store in memory. */
  reader(): StoreReader {
    return new StoreReader(this.#file, this.#db, this.#tail);
  }

  append(envelopes: readonly PackedEnvelope[]): Promise<(EnvelopeAck | CairnError)[]> {
    return this.#committer.run(() =>
      envelopes.map((envelope) => {
        try {
          const ack = this.#appender.append(envelope);
          if (!ack.duplicate) this.#fold.count(envelope.points, envelope.names.length);
          return ack;
        } catch (thrown) {
          const error = CairnError.from(thrown);
          if (error.code === "unavailable") throw error;
          return error;
        }
      }),
    );
  }

  /** A change of namespaces, settings or keys: `work` as a whole or not at all. */
  change<T>(work: (namespaces: Namespaces, db: Db) => T): Promise<T> {
    return this.#committer.run(() => this.#db.savepoint(() => work(this.#namespaces, this.#db)));
  }

  /** A change of one run, told to the feed. */
  async changeRun<T extends { stored: StoredRun }>(work: (runs: Runs) => T): Promise<T> {
    return this.#committer.run(() => {
      const done = this.#db.savepoint(() => work(this.#runs));
      this.#appender.touchedRuns.add(done.stored.key);
      return done;
    });
  }

  expireHeartbeats(nowUs: number): Promise<number> {
    return this.#committer.run(() => {
      // Envelopes of this very group are signs of life too.
      this.#ledger.flush();
      const silent = this.#runs.silentSince(nowUs);
      this.#db.savepoint(() => {
        for (const key of silent) this.#runs.update(key, { status: "lost" }, nowUs);
      });
      for (const key of silent) this.#appender.touchedRuns.add(key);
      return silent.length;
    });
  }

  purgeRun(id: string): Promise<{ points: number }> {
    return this.#committer.run(() => {
      const { key, points } = this.#db.savepoint(() => this.#deleteRun(id));
      this.#forgetRun(key);
      this.#feed.purge(key);
      return { points };
    });
  }

  #deleteRun(id: string): { key: number; points: number } {
    const key = this.#runs.getKey(id);
    if (this.#runs.get(key).run.deletedUs === undefined) {
      throw new CairnError("precondition", `cannot purge run ${quote(id)}: it is not in the trash`, {
        reason: "NOT_IN_TRASH",
        hint: "delete the run first",
      });
    }
    let points = 0;
    for (const [series] of this.#db.all("SELECT id FROM series WHERE run = ?", key)) {
      points += this.#catalog.findById(Number(series))!.state.total;
      this.#db.run(
        "DELETE FROM chunk WHERE id >= ? AND id < ?",
        chunkId(Number(series), 0),
        chunkId(Number(series) + 1, 0),
      );
    }
    this.#db.run("DELETE FROM log WHERE run = ?", key);
    this.#db.run("DELETE FROM damaged_log WHERE run = ?", key);
    keepPosition(this.#db, this.#tail.lastPos);
    this.#runs.remove(key);
    return { key, points };
  }

  /** Between two groups memory holds exactly what is committed, so there is nothing to wait for. */
  publish(): number {
    const { touchedRuns, touchedSeries } = this.#appender;
    if (this.#feed.stale) this.#feed.tellAll((id) => this.#catalog.peek(id));
    else if (touchedRuns.size > 0 || touchedSeries.size > 0 || this.#feed.hasPurged) {
      this.#feed.tell(
        [...touchedRuns].map((key) => this.#runs.feedRow(key)),
        touchedSeries,
      );
    }
    touchedRuns.clear();
    touchedSeries.clear();
    return this.#feed.position;
  }

  get feedPosition(): number {
    return this.#feed.position;
  }

  /** Folds everything there is and makes the file as small as it gets. */
  async settle(): Promise<void> {
    do {
      this.#fold.request();
      await this.#committer.run(() => undefined);
    } while (this.#fold.due);
    if (this.#fold.failure !== undefined) throw this.#fold.failure;
    this.#shrink();
  }

  /** A copy of everything accepted so far. */
  backup(file: string): void {
    this.#committer.drain();
    this.reader().backup(file);
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#committer.close();
    if (this.#file !== ":memory:") emptyWal(this.#db);
    this.#db.close();
  }

  #tend(): void {
    if (!this.#tail.isEmpty) {
      this.#fold.request();
      this.#committer.wake();
    } else {
      this.#trimCaches();
      this.#shrink();
    }
  }

  #trimCaches(): void {
    if (this.#catalog.size > CACHED_SERIES_MAX) this.#catalog.forget();
    if (this.#ledger.cachedWriters > CACHED_WRITERS_MAX) this.#ledger.forget();
    this.#appender.forget();
  }

  #shrink(): void {
    if (this.#file === ":memory:") return;
    this.#db.all("PRAGMA incremental_vacuum");
    emptyWal(this.#db);
  }

  #forgetRun(key: number): void {
    this.#tail.dropRun(key);
    for (const entry of this.#appender.touchedSeries) {
      if (entry.run === key) this.#appender.touchedSeries.delete(entry);
    }
    this.#appender.touchedRuns.delete(key);
    this.#appender.forget();
    this.#catalog.forgetRun(key);
    this.#ledger.forgetRun(key);
  }

  /** Memory as the file has it: at the start, and after a rollback. */
  #reload(): void {
    this.#ledger.forget();
    this.#catalog.forget();
    this.#appender.forget();
    this.#appender.touchedRuns.clear();
    this.#appender.touchedSeries.clear();
    this.#fold.reset();
    this.#tail.clear();
    this.#feed.spoil();
    this.#tail.lastPos = keptPosition(this.#db);
    for (const stored of this.#db.all(`SELECT ${LOG_COLUMNS} FROM log ORDER BY pos`)) {
      const row = readLogRow(stored);
      this.#tail.push(row);
      if (row.damage !== undefined) continue;
      const entries: (SeriesEntry | undefined)[] = [];
      for (const series of row.series) entries.push(this.#catalog.findById(series));
      this.#fold.count(this.#appender.take(row, entries), row.series.length);
    }
  }
}
