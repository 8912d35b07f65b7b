import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CairnError, quote } from "#lang/errors.ts";
import { lockDirectory } from "./file/lock.ts";
import { SqliteStore, type SqliteOptions } from "./sqlite-store.ts";
import { startThread } from "./thread.ts";
import type { ReaderApi, WriterApi } from "./worker-api.ts";

/** Opens the embedded store. Throws `precondition` when another process uses the directory. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { directory, startThread: start = startThread } = options;
  if (directory === undefined) {
    const thread = await start<WriterApi & ReaderApi>({ role: "both", file: ":memory:" });
    return new SqliteStore(options, thread, [thread], undefined);
  }
  makeDirectory(directory);
  const lock = lockDirectory(directory);
  try {
    const file = join(directory, "cairn.db");
    const writer = await start<WriterApi>({ role: "writer", file });
    const reader = await start<ReaderApi>({ role: "reader", file }).catch(async (thrown: unknown) => {
      await writer.stop();
      throw thrown;
    });
    return new SqliteStore(options, writer, [reader], { file, lock });
  } catch (thrown) {
    lock.release();
    throw thrown;
  }
}

function makeDirectory(directory: string): void {
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
