import { constants, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { throwIfCancelled } from "#base/threads/cancellation.ts";
import { CairnError } from "#lang/errors.ts";

export type Value = SQLInputValue;
export type Row = (string | number | bigint | Uint8Array | null)[];

/**
 * SQLite behind a few verbs, so that another driver could replace it. Rows are arrays in the
 * order of the selected columns. Every failure leaves as a CairnError.
 */
export class Db {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #copying = false;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** `file` is a path, or ":memory:". */
  static open(file: string, options: { readOnly?: boolean } = {}): Db {
    return translate(`open database "${file}"`, () => {
      const db = new DatabaseSync(file, {
        readOnly: options.readOnly ?? false,
        enableForeignKeyConstraints: true,
        enableDoubleQuotedStringLiterals: false,
        allowExtension: false,
        timeout: 10_000,
      });
      db.enableDefensive(true);
      const opened = new Db(db);
      // Called when a statement is prepared, once for each, and never when it runs.
      if (options.readOnly === true) {
        db.setAuthorizer((action, first, second) =>
          opened.#copying || mayRead(action, first, second) ? ALLOW : DENY,
        );
      }
      return opened;
    });
  }

  /** One or more statements without parameters. */
  exec(sql: string): void {
    translate("write", () => this.#db.exec(sql));
  }

  run(sql: string, ...values: Value[]): { changes: number; lastId: number } {
    return translate("write", () => {
      const done = this.#statement(sql).run(...values);
      return { changes: Number(done.changes), lastId: Number(done.lastInsertRowid) };
    });
  }

  /** Throws `Cancelled` when the caller of the current call has disconnected; so does `each`. */
  find(sql: string, ...values: Value[]): Row | undefined {
    throwIfCancelled();
    return translate("read", () => this.#statement(sql).get(...values) as unknown as Row | undefined);
  }

  all(sql: string, ...values: Value[]): Row[] {
    return translate("read", () => this.#statement(sql).all(...values) as unknown as Row[]);
  }

  /** Row by row; must be read to its end or returned before the same statement is used again. */
  *each(sql: string, ...values: Value[]): Generator<Row> {
    const rows = translate("read", () => this.#statement(sql).iterate(...values));
    try {
      for (;;) {
        throwIfCancelled();
        const next = translate("read", () => rows.next());
        if (next.done === true) return;
        yield next.value as unknown as Row;
      }
    } finally {
      rows.return?.();
    }
  }

  /** Copies everything into a new file. The one time that a connection which only reads writes a file. */
  copyTo(file: string): void {
    this.#copying = true;
    try {
      this.run("VACUUM INTO ?", file);
    } finally {
      this.#copying = false;
    }
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** `work`, which only reads, on one state of the database. */
  snapshot<T>(work: () => T): T {
    this.run("BEGIN");
    try {
      return work();
    } finally {
      // There is nothing to commit, and a damaged database may refuse to.
      if (this.inTransaction) this.run("ROLLBACK");
    }
  }

  /** `work` as one transaction, rolled back when it throws. */
  transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
    this.run(begin);
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (thrown) {
      // Some failures, such as a full disk, have ended the transaction already.
      if (this.inTransaction) this.run("ROLLBACK");
      throw thrown;
    }
  }

  /** `work` as a part of the transaction in progress that can fail on its own. */
  savepoint<T>(work: () => T): T {
    this.run("SAVEPOINT part");
    try {
      const result = work();
      this.run("RELEASE part");
      return result;
    } catch (thrown) {
      if (this.inTransaction) {
        this.run("ROLLBACK TO part");
        this.run("RELEASE part");
      }
      throw thrown;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const { SQLITE_OK: ALLOW, SQLITE_DENY: DENY } = constants;
const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
]);
/** Those that only read. The check takes a number, the others nothing: with a value they would set it. */
const TELLING: ReadonlySet<string> = new Set(["page_count", "page_size", "user_version", "busy_timeout"]);
const CHECK = "integrity_check";

/** Whether a connection that only reads may prepare a statement that does this, whatever its text came from. */
function mayRead(action: number, first: string | null, second: string | null): boolean {
  if (READING.has(action)) return true;
  if (action === constants.SQLITE_FUNCTION) return second !== "load_extension";
  if (action !== constants.SQLITE_PRAGMA || first === null) return false;
  return first === CHECK || (TELLING.has(first) && second === null);
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** The index of the write-ahead log cannot grow. It holds no persistent data. */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8);

/** Whether the database can no longer be trusted to have stored its writes. */
export function isWriteFailure(error: CairnError): boolean {
  return error.reason === "STORAGE_FAILED";
}

/** Whether the same will work once there is space. */
export function isDiskFull(error: CairnError): boolean {
  return error.reason === "DISK_FULL";
}

function translate<T>(verb: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw translated(verb, thrown);
  }
}

function translated(verb: string, thrown: unknown): CairnError {
  if (thrown instanceof CairnError) return thrown;
  const { errcode, message } = thrown as { errcode?: number; message: string };
  const cause = { cause: thrown };
  switch (errcode === SQLITE_IOERR_SHMSIZE ? SQLITE_FULL : (errcode ?? 0) & 0xff) {
    case SQLITE_FULL:
      return new CairnError("unavailable", `cannot ${verb}: the disk is full`, {
        ...cause,
        reason: "DISK_FULL",
        hint: "free some space in the data directory; the server then continues automatically",
        retryAfterMs: 1_000,
      });
    case SQLITE_IOERR:
      return new CairnError("unavailable", `cannot ${verb}: the storage failed (${message})`, {
        ...cause,
        reason: "STORAGE_FAILED",
        hint: "check the disk, then restart the server",
      });
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new CairnError("unavailable", `cannot ${verb}: another program has locked the database`, {
        ...cause,
        reason: "LOCKED",
        hint: "close the program that has the store open",
        retryAfterMs: 1_000,
      });
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return new CairnError("unavailable", `cannot ${verb}: ${message}`, {
        ...cause,
        reason: "READ_ONLY",
        hint: "the data directory must exist and be writable for the server",
      });
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new CairnError("corrupt", `cannot ${verb}: the database is damaged (${message})`, {
        ...cause,
        hint: "restore a backup",
      });
    default:
      return new CairnError("internal", `cannot ${verb}: ${message}`, cause);
  }
}
