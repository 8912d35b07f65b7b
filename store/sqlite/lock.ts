import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CairnError } from "#core/errors.ts";

/**
 * Keeps a second process out of a data directory for as long as it is held. It is an exclusive
 * transaction on an empty database beside the store: the kernel releases it when the process dies.
 * (An exclusive lock on the store itself would shut out our own readers.)
 */
export function lockDirectory(directory: string): { release(): void } {
  const lock = new DatabaseSync(join(directory, "lock.db"), { timeout: 0 });
  try {
    lock.exec("PRAGMA journal_mode = DELETE");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const busy = ((cause as { errcode?: number }).errcode ?? 0) % 256 === 5;
    if (!busy) throw cause;
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
  return { release: () => lock.close() };
}
