import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CairnError, quote } from "#lang/errors.ts";

const SQLITE_BUSY = 5;

/**
 * Keeps a second process out of a data directory for as long as it is held. It is an exclusive
 * transaction on an empty database beside the store: the kernel releases it when the process dies.
 * (An exclusive lock on the store itself would block our own readers.)
 */
export function lockDirectory(directory: string): { release(): void } {
  let lock: DatabaseSync | undefined;
  try {
    // On a read-only disk, SQLite would lock and fail much later, with the name of an internal file.
    accessSync(directory, constants.W_OK);
    lock = new DatabaseSync(join(directory, "lock.db"), { timeout: 0 });
    lock.exec("PRAGMA journal_mode = DELETE");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock?.close();
    const { errcode, message } = cause as { errcode?: number; message: string };
    const busy = (errcode ?? 0) % 256 === SQLITE_BUSY;
    if (!busy) {
      throw new CairnError("unavailable", `cannot open data directory "${directory}": ${message}`, {
        cause,
        reason: "READ_ONLY",
        hint: "the data directory must be writable for the server",
      });
    }
    throw new CairnError(
      "precondition",
      `cannot open data directory "${directory}": another Cairn process uses it`,
      {
        cause,
        reason: "DIRECTORY_IN_USE",
        hint: "stop that process, or give this one another directory with --data",
      },
    );
  }
  const held = lock;
  return { release: () => held.close() };
}

/** Creates the directory where it is missing. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CairnError("unavailable", `cannot make data directory ${quote(directory)}: ${reason}`, {
      cause,
      hint: "give another directory with --data",
    });
  }
}
