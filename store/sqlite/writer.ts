import { dirname } from "node:path";
import type { SharedNumber } from "#base/threads/shared-number.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import { CHANGED } from "#core/ports/journal.ts";
import type { DeletedSeries, DeleteSeries } from "#core/ports/point-store.ts";
import type { RunFeedBatch, RunMark } from "#core/ports/run-changes.ts";
import { dropRunAccess } from "./access/access.ts";
import { Appender, type Appended, type PackedEnvelope } from "./journal/append.ts";
import type { ChangedArtifacts } from "./artifacts/artifact-calls.ts";
import { Artifacts } from "./artifacts/artifacts.ts";
import { appendAudit } from "./access/audit.ts";
import { Backgrounds } from "./backgrounds.ts";
import { Catalog, type SeriesEntry } from "./series/catalog.ts";
import { chunkId } from "./series/chunks.ts";
import { adopt, deleteSeries } from "./series/delete.ts";
import { Committer, URGENT, type JobOptions } from "./committer.ts";
import type { Db } from "./file/db.ts";
import { RunFeed } from "./runs/feed.ts";
import { Fold } from "./series/fold.ts";
import { Hosts } from "./series/hosts.ts";
import { JournalWriter } from "./journal/journal.ts";
import { Ledger } from "./journal/ledger.ts";
import { Lines } from "./lines/lines.ts";
import { LinesMerge } from "./lines/merge.ts";
import { LOG_COLUMNS, readLogRow } from "./journal/log.ts";
import { RecentSeries } from "./series/recent-series.ts";
import { Moves } from "./runs/moves.ts";
import { Namespaces } from "./runs/namespaces.ts";
import { StoreReader } from "./store-reader.ts";
import { Runs, type StoredRun } from "./runs/runs.ts";
import { readHeld, writeHeld, type Held } from "./file/held-tables.ts";
import { openForWriting } from "./file/open-for-writing.ts";
import { Room } from "./file/room.ts";
import { emptyWal, returnPages, shortenWal } from "./file/schema.ts";
import { Tail } from "./journal/tail.ts";

const CACHED_SERIES_MAX = 200_000;
const CACHED_WRITERS_MAX = 50_000;
const CACHED_LOGS_MAX = 50_000;
const FOLD_AFTER_MS = 30_000;

/**
 * The one connection that writes, with everything it keeps in memory beside the file. It lives on the
 * storage thread. Its memory can always be rebuilt from the file, as it is after
 * a rollback.
 */
export class StoreWriter {
  readonly #db: Db;
  readonly #file: string;
  readonly #room: Room | undefined;
  readonly #tail = new Tail();
  readonly #journal: JournalWriter;
  readonly #namespaces: Namespaces;
  readonly #runs: Runs;
  readonly #ledger: Ledger;
  readonly #catalog: Catalog;
  readonly #appender: Appender;
  readonly #fold: Fold;
  readonly #lines: Lines;
  readonly #merge: LinesMerge;
  readonly #recent = new RecentSeries();
  readonly #feed: RunFeed;
  readonly #moves: Moves;
  readonly #committer: Committer;
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  /**
   * `position` is set to that of the last change, before the change is acknowledged. `onFailure` is called once, when
   * nothing can be written any more.
   */
  constructor(
    file: string,
    position: SharedNumber,
    {
      changesKept,
      onFailure = () => {},
    }: { changesKept?: number | undefined; onFailure?: (error: CairnError) => void } = {},
  ) {
    this.#file = file;
    this.#room = file === ":memory:" ? undefined : new Room(dirname(file));
    const { db, full } = openForWriting(file, this.#room);
    this.#db = db;
    this.#journal = new JournalWriter(db, this.#tail, changesKept);
    this.#namespaces = new Namespaces(db, this.#journal);
    this.#runs = new Runs(db, this.#namespaces);
    this.#ledger = new Ledger(db);
    this.#catalog = new Catalog(db);
    this.#merge = new LinesMerge(db);
    this.#lines = new Lines(db, this.#merge);
    const shared = { db, runs: this.#runs, ledger: this.#ledger, catalog: this.#catalog, tail: this.#tail };
    this.#appender = new Appender({
      ...shared,
      namespaces: this.#namespaces,
      lines: this.#lines,
      artifacts: new Artifacts(db),
      journal: this.#journal,
      recent: this.#recent,
    });
    this.#fold = new Fold(shared);
    const [runs, namespaces, journal] = [this.#runs, this.#namespaces, this.#journal];
    this.#feed = new RunFeed({ db, runs, namespaces, catalog: this.#catalog, recent: this.#recent });
    this.#moves = new Moves({ db, runs, namespaces, journal });
    this.#committer = new Committer({
      db,
      background: new Backgrounds([this.#fold, this.#merge]),
      beforeCommit: () => {
        this.#ledger.flush();
        this.#lines.flush();
        this.#journal.prune();
      },
      onCommitted: () => (position.value = this.#journal.followedPosition()),
      onRollback: () => this.#reload(),
      room: this.#room,
      full,
      afterCommit: () => {
        if (file !== ":memory:") shortenWal(db);
      },
      giveBack: () => returnPages(db),
      onFailure,
    });
    this.#reload();
    position.value = this.#journal.followedPosition();
    if (full !== undefined || this.#room?.isThere === true) this.#room?.hold();
    this.#timer = setInterval(() => this.#tend(), FOLD_AFTER_MS);
  }

  /** Reads through this very connection: the only one there is for a store in memory. */
  reader(): StoreReader {
    return new StoreReader(this.#file, this.#db, this.#tail);
  }

  append(envelopes: readonly PackedEnvelope[]): Promise<(Appended | CairnError)[]> {
    return this.#committer.run(() =>
      envelopes.map((envelope) => {
        try {
          const appended = this.#appender.append(envelope);
          if (!appended.ack.duplicate) this.#fold.count(envelope.points, envelope.names.length);
          return appended;
        } catch (thrown) {
          const error = CairnError.from(thrown);
          if (error.code === "unavailable") throw error;
          return error;
        }
      }),
    );
  }

  /** A change of namespaces, settings or keys: `work` as a whole or not at all. */
  change<T>(
    work: (namespaces: Namespaces, db: Db, journal: JournalWriter) => T,
    options?: JobOptions,
  ): Promise<T> {
    return this.#committer.run(
      () => this.#db.savepoint(() => work(this.#namespaces, this.#db, this.#journal)),
      options,
    );
  }

  /**
   * A change of leases, pins and turns (file/held-tables.ts), as a whole or not at all. It is in memory, so it works
   * while the disk is full without using the reserved space: chores do it every few seconds.
   */
  async changeHeld<T>(work: (db: Db) => T): Promise<T> {
    return this.#committer.beside(() => this.#db.savepoint(() => work(this.#db)));
  }

  /** A change of what a run has beside it; `work` returns the run's key, or undefined where nothing changed. */
  changeArtifacts<T>(work: (db: Db) => ChangedArtifacts<T>, options?: JobOptions): Promise<T> {
    return this.change((_, db) => {
      const { run, changesAccess, result } = work(db);
      if (run !== undefined) {
        this.#runs.requireWritable(run);
        this.#journal.note(run, CHANGED.artifacts);
      }
      if (changesAccess === true) this.#journal.noteOutside(CHANGED.access);
      return result;
    }, options);
  }

  /** A change of one run. */
  async changeRun<T extends { stored: StoredRun; created?: boolean }>(
    work: (runs: Runs, db: Db) => T,
    options?: JobOptions,
  ): Promise<T> {
    return this.change((_, db) => {
      const changed = work(this.#runs, db);
      if (changed.created !== false) this.#journal.note(changed.stored.key, CHANGED.run);
      return changed;
    }, options);
  }

  expireHeartbeats(nowUs: number): Promise<number> {
    return this.#committer.run(() => {
      // Envelopes of this group are heartbeats too.
      this.#ledger.flush();
      const silent = this.#runs.silentSince(nowUs);
      this.#db.savepoint(() => {
        for (const key of silent) {
          this.#journal.note(key, CHANGED.run);
          this.#runs.update(key, { status: "lost" }, nowUs, undefined);
        }
      });
      return silent.length;
    });
  }

  purgeRun(id: string, audit: AuditRecord): Promise<{ points: number }> {
    return this.#committer.run(() => {
      const { key, points } = this.#db.savepoint(() => {
        const done = this.#deleteRun(id);
        if (dropRunAccess(this.#db, id)) this.#journal.noteOutside(CHANGED.access);
        appendAudit(this.#db, audit);
        return done;
      });
      this.#forgetRun(key);
      return { points };
    }, URGENT);
  }

  /** What gets another place, or goes into the trash. */
  move<T>(work: (moves: Moves) => T, options?: JobOptions): Promise<T> {
    return this.#committer.run(() => {
      const moved = work(this.#moves);
      this.#appender.forget();
      return moved;
    }, options);
  }

  deleteSeries(request: DeleteSeries, audit: AuditRecord): Promise<DeletedSeries> {
    return this.#committer.run(() => {
      const { host } = request.owner;
      const run = host === undefined ? this.#runs.getKey(request.owner.runId) : undefined;
      const parts = { db: this.#db, catalog: this.#catalog, tail: this.#tail };
      const deletion = this.#db.savepoint(() => {
        const done = deleteSeries(parts, request, audit);
        if (done.series > 0 && run !== undefined) {
          this.#journal.note(run, CHANGED.points | CHANGED.deleted);
        }
        const [gone] = done.gone;
        if (host !== undefined && gone !== undefined) new Hosts(this.#db).removeIfEmpty(gone.run);
        return done;
      });
      adopt(this.#catalog, deletion);
      for (const entry of deletion.gone) this.#recent.remove(entry);
      const { series, points, next } = deletion;
      return { series, points, next };
    }, URGENT);
  }

  #deleteRun(id: string): { key: number; points: number } {
    const key = this.#runs.getKey(id);
    const { run } = this.#runs.getLight(key);
    if (run.deletedUs === undefined) {
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
    this.#lines.remove(key);
    this.#runs.remove(key);
    this.#journal.notePurged(key, run);
    return { key, points };
  }

  /** Between two groups memory holds exactly what is committed, so there is nothing to wait for. */
  runsSince(mark: RunMark | undefined): RunFeedBatch {
    return this.#feed.since(mark);
  }

  /** Folds everything there is and makes the file as small as it gets. */
  async settle(): Promise<void> {
    // Once: later writes are not waited for, or it might never end.
    this.#fold.request();
    this.#merge.request();
    do await this.#committer.run(() => undefined);
    while (this.#fold.due || this.#merge.due);
    const failure = this.#fold.failure ?? this.#merge.failure;
    if (failure !== undefined) throw failure;
    this.#committer.tend(() => this.#shrink());
  }

  /** A copy of everything accepted so far. */
  backup(file: string): void {
    this.#committer.drain();
    this.reader().backup(file);
  }

  /** What cores hold once all accepted so far is done. */
  held(): Held {
    this.#committer.drain();
    return readHeld(this.#db);
  }

  hold(held: Held): void {
    writeHeld(this.#db, held);
  }

  /** The last that was given out, also to a change that followers do not learn of. */
  get lastPosition(): number {
    return this.#tail.lastPos;
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#committer.close();
    try {
      if (this.#file !== ":memory:") this.#committer.tend(() => emptyWal(this.#db));
    } catch {
      // It stays beside the file, and the next start reads it from there.
    }
    this.#db.close();
  }

  #tend(): void {
    if (this.#merge.tend()) this.#committer.wake();
    if (!this.#tail.isEmpty) {
      this.#fold.request();
      this.#committer.wake();
    } else {
      this.#trimCaches();
      try {
        this.#committer.tend(() => this.#shrink());
      } catch {
        // The committer knows, and the next quiet moment tries again.
      }
    }
    if (this.#room?.isThere === true) this.#room.hold();
  }

  #trimCaches(): void {
    if (this.#catalog.size > CACHED_SERIES_MAX) {
      this.#catalog.forget();
      this.#recent.clear(this.#tail.lastPos);
    }
    if (this.#ledger.cachedWriters > CACHED_WRITERS_MAX) this.#ledger.forget();
    if (this.#lines.cachedTotals > CACHED_LOGS_MAX) this.#lines.forget();
    this.#appender.forget();
  }

  #shrink(): void {
    if (this.#file === ":memory:") return;
    this.#db.all("PRAGMA incremental_vacuum");
    emptyWal(this.#db);
  }

  #forgetRun(key: number): void {
    this.#tail.dropRun(key);
    for (const entry of this.#catalog.ofRun(key)) this.#recent.remove(entry);
    this.#appender.forget();
    this.#catalog.forgetRun(key);
    this.#ledger.forgetRun(key);
    this.#lines.forgetRun(key);
    this.#merge.forgetRun(key);
  }

  /** Memory as the file has it: at the start, and after a rollback. */
  #reload(): void {
    this.#ledger.forget();
    this.#catalog.forget();
    this.#appender.forget();
    this.#fold.reset();
    this.#lines.forget();
    this.#merge.reload();
    this.#tail.clear();
    this.#journal.reload();
    this.#recent.clear(this.#tail.lastPos);
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
