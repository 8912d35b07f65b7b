import { CairnError } from "#lang/errors.ts";
import { isDiskFull, isWriteFailure, type Db } from "./file/db.ts";
import type { Room } from "./file/room.ts";

interface Job {
  work: () => unknown;
  urgent: boolean;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export interface JobOptions {
  /**
   * May use the space that is reserved for a full disk: for jobs that free space, such as deletions, and for
   * the few calls that users need for them.
   */
  urgent?: boolean;
}

export const URGENT: JobOptions = { urgent: true };

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
  /** undefined where there is no disk. */
  room: Room | undefined;
  /** Why the disk counts as full from the start. */
  full?: CairnError | undefined;
  /** Runs at the end of every group, before the commit. */
  beforeCommit(): void;
  /** Runs after a successful commit, before the group is answered. */
  onCommitted(): void;
  /** Runs once a group has been answered, outside of transactions: the place for checkpoints. */
  afterCommit(): void;
  /** Runs after urgent jobs on a full disk: returns the space that they have freed to the disk. */
  giveBack(): void;
  /** The transaction, or the background's part of it, was rolled back: drop state that is only in memory. */
  onRollback(): void;
  /** Called once, when nothing will be written any more. */
  onFailure(error: CairnError): void;
}

const JOBS_PER_GROUP = 512;
const SLICE_BUSY_MS = 3;
const SLICE_IDLE_MS = 15;

/**
 * Group commit: jobs that wait at the same time share one transaction and one fsync. A job's promise
 * resolves only after the commit that holds it has returned. A job that throws must have left no trace
 * (a savepoint does that) and fails alone; one that throws `unavailable` has met a failure of the
 * storage, which rolls back and rejects the whole group.
 *
 * A full disk is not fatal: its free space is checked again with every group. Until then
 * jobs are refused before they have changed anything, except urgent ones. Any other failure of the storage
 * is final, for what the system says after a failed fsync cannot be trusted.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #queue: Job[] = [];
  #scheduled = false;
  #closed = false;
  /** Set while the disk is full. */
  #full: CairnError | undefined;
  /** Set once the storage has failed: nothing is acknowledged after that. */
  #failure: CairnError | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#full = options.full;
  }

  run<T>(work: () => T, { urgent = false }: JobOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#requireOpen();
      this.#queue.push({ work, urgent, resolve, reject });
      this.wake();
    });
  }

  /** Checks soon whether there is background work. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  /**
   * Does work that writes outside of groups, between two of them. Its errors are passed on, and handled
   * like the failure of a group.
   */
  tend<T>(work: () => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return work();
    } catch (thrown) {
      const error = CairnError.from(thrown);
      this.#judge(error);
      throw error;
    }
  }

  /** As `tend`, for calls: work that writes to memory only, and so needs neither a group nor room on the disk. */
  beside<T>(work: () => T): T {
    this.#requireOpen();
    return this.tend(work);
  }

  /** Commits accepted jobs. */
  drain(): void {
    while (this.#queue.length > 0) this.#commit();
  }

  /** Background work is not done. */
  close(): void {
    this.drain();
    this.#closed = true;
  }

  /** Why nothing is written any more. */
  get failure(): CairnError | undefined {
    return this.#failure;
  }

  #requireOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw new CairnError("unavailable", "cannot write: the store is closed");
  }

  #turn(): void {
    this.#scheduled = false;
    if (this.#closed || this.#failure !== undefined) return;
    if (this.#commit() || this.#queue.length > 0) this.wake();
  }

  /** One transaction at most. Returns whether background work is left. */
  #commit(): boolean {
    const { room } = this.#options;
    const cramped = this.#full !== undefined && room?.isThere === false;
    if (cramped) this.#refuseOrdinary(this.#full!);
    const jobs = this.#queue.splice(0, JOBS_PER_GROUP);
    if (!cramped) return this.#commitGroup(jobs, false);
    if (jobs.length > 0) this.#commitGroup(jobs, true);
    return false;
  }

  /** `cramped` when the disk is full and these are the urgent ones. */
  #commitGroup(jobs: readonly Job[], cramped: boolean): boolean {
    const { db, room, background, beforeCommit, onCommitted, onRollback } = this.#options;
    const settle: (() => void)[] = [];
    let more = false;
    let undone = false;
    if (cramped) room?.release();
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
        if (!cramped && background.due) more = db.savepoint(() => background.slice(budgetMs));
      } catch (thrown) {
        const error = CairnError.from(thrown);
        if (!isOwn(error)) throw error;
        background.pause(error);
        undone = true;
      }
      beforeCommit();
      db.run("COMMIT");
    } catch (thrown) {
      this.#undo(jobs, CairnError.from(thrown), cramped);
      return false;
    }
    onCommitted();
    for (const done of settle) done();
    if (undone) onRollback();
    this.#tidy(cramped);
    return more;
  }

  /** After a successful commit. */
  #tidy(cramped: boolean): void {
    const { room, afterCommit, giveBack } = this.#options;
    const wasFull = this.#full !== undefined;
    if (!cramped) this.#full = undefined;
    try {
      this.tend(cramped ? giveBack : afterCommit);
    } catch {
      // It has been handled, and acknowledged writes are safe without it.
    }
    if (wasFull) room?.hold();
  }

  #undo(jobs: readonly Job[], error: CairnError, cramped: boolean): void {
    const { db, room, onRollback } = this.#options;
    this.#judge(error);
    try {
      if (db.inTransaction) db.run("ROLLBACK");
      onRollback();
    } catch (thrown) {
      // Memory may now differ from the file, so it cannot be used.
      this.#fail(cannotGoOn(thrown));
    }
    const again = isDiskFull(error) && !cramped && this.#failure === undefined;
    const urgent = again ? jobs.filter((job) => job.urgent) : [];
    for (const job of jobs) if (!urgent.includes(job)) job.reject(error);
    if (urgent.length > 0) this.#commitGroup(urgent, true);
    else if (cramped) room?.hold();
  }

  #judge(error: CairnError): void {
    if (isDiskFull(error)) this.#full = error;
    if (isWriteFailure(error)) this.#fail(error);
  }

  #fail(error: CairnError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const { reject } of this.#queue.splice(0)) reject(error);
    this.#options.onFailure(error);
  }

  #refuseOrdinary(error: CairnError): void {
    const waiting = this.#queue;
    this.#queue = waiting.filter((job) => job.urgent);
    for (const { urgent, reject } of waiting) if (!urgent) reject(error);
  }
}

/** Whether the job itself failed, and not the storage. */
function isOwn(error: CairnError): boolean {
  return error.code !== "unavailable";
}

function cannotGoOn(cause: unknown): CairnError {
  const { message } = CairnError.from(cause);
  return new CairnError(
    "unavailable",
    `cannot write: the store cannot be read after a failed write (${message})`,
    {
      cause,
      reason: "STORAGE_FAILED",
      hint: "check the disk, then restart the server",
    },
  );
}
