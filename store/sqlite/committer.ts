import { CairnError } from "#core/errors.ts";
import { isWriteFailure, type Db } from "./db.ts";

interface Job {
  work: () => unknown;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** Work that fills the time between groups, a slice at a time. */
export interface Background {
  /** Whether there is any. */
  readonly due: boolean;
  /** Runs inside the group's transaction for about `budgetMs`. Returns whether more is waiting. */
  slice(budgetMs: number): boolean;
  /** A slice has failed by itself and was undone: the next one should not come soon. */
  pause(cause: CairnError): void;
}

export interface CommitterOptions {
  db: Db;
  background: Background;
  /** Runs at the end of every group, before the commit. */
  beforeCommit(): void;
  /** The transaction, or the background's part of it, is gone: forget what is only in memory. */
  onRollback(): void;
}

const JOBS_PER_GROUP = 512;
const SLICE_BUSY_MS = 3;
const SLICE_IDLE_MS = 15;

/**
 * Group commit: jobs that wait at the same time share one transaction and one fsync. A job's promise
 * resolves only after the commit that holds it has returned. A job that throws must have left no trace
 * (a savepoint does that) and fails alone; one that throws `unavailable` has met a failure of the
 * storage, which rolls back and rejects the whole group.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Job[] = [];
  #scheduled = false;
  #closed = false;
  /** Set once the storage has failed: nothing is acknowledged after that. */
  #failure: CairnError | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#closed) throw new CairnError("unavailable", "cannot write: the store is closed");
      this.#queue.push({ work, resolve, reject });
      this.wake();
    });
  }

  /** Looks soon whether there is background work. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  /** Commits what was accepted. */
  drain(): void {
    while (this.#queue.length > 0) this.#commit();
  }

  /** Background work stays undone. */
  close(): void {
    this.drain();
    this.#closed = true;
  }

  #turn(): void {
    this.#scheduled = false;
    if (this.#closed || this.#failure !== undefined) return;
    if (this.#commit() || this.#queue.length > 0) this.wake();
  }

  /** One transaction. Returns whether background work is left. */
  #commit(): boolean {
    const { db, background, beforeCommit, onRollback } = this.#options;
    const jobs = this.#queue.splice(0, JOBS_PER_GROUP);
    const settle: (() => void)[] = [];
    let more = false;
    let undone = false;
    try {
      db.run("BEGIN IMMEDIATE");
      for (const { work, resolve, reject } of jobs) {
        try {
          const value = work() as never;
          settle.push(() => resolve(value));
        } catch (thrown) {
          const error = CairnError.from(thrown);
          if (!isOwn(error)) throw error;
          settle.push(() => reject(error));
        }
      }
      try {
        const budgetMs = jobs.length > 0 ? SLICE_BUSY_MS : SLICE_IDLE_MS;
        if (background.due) more = db.savepoint(() => background.slice(budgetMs));
      } catch (thrown) {
        const error = CairnError.from(thrown);
        if (!isOwn(error)) throw error;
        background.pause(error);
        undone = true;
      }
      beforeCommit();
      db.run("COMMIT");
    } catch (thrown) {
      const error = CairnError.from(thrown);
      if (isWriteFailure(error)) this.#failure = error;
      if (db.inTransaction) db.run("ROLLBACK");
      onRollback();
      for (const { reject } of jobs) reject(error);
      if (this.#failure !== undefined) {
        for (const { reject } of this.#queue.splice(0)) reject(error);
      }
      return false;
    }
    for (const done of settle) done();
    if (undone) onRollback();
    return more;
  }
}

/** Whether it failed by itself, as opposed to the storage having failed under it. */
function isOwn(error: CairnError): boolean {
  return error.code !== "unavailable";
}
