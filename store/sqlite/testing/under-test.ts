import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import type { RunChangesLink } from "#core/ports/run-changes.ts";
import { linkRunChanges } from "#core/runs/run-changes-link.ts";
import { FeedRecorder } from "#store/contract/feed-recorder.ts";
import { NOW_US, type StoresUnderTest } from "#store/contract/stores.ts";
import { openSqlite, type SqliteStore } from "../open.ts";
import type { StartThread } from "../thread.ts";
import { startKeptThread } from "./kept-threads.ts";

// Tests start very many threads; with the cache that takes half the time.
enableCompileCache();

export interface SqliteUnderTest extends StoresUnderTest {
  store: SqliteStore;
  /** Where the store is; undefined in memory. */
  data: string | undefined;
  followRuns(): Promise<RunChangesLink>;
  reopen?(): Promise<SqliteUnderTest>;
}

export async function openOnDisk(
  readersMax = 1,
  startThread: StartThread = startKeptThread,
): Promise<SqliteUnderTest & { data: string }> {
  const directory = await mkdtemp(join(tmpdir(), "cairn-store-"));
  const data = join(directory, "data");
  emptyStore ??= makeEmptyStore();
  const { db, reserveBytes } = await emptyStore;
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, "cairn.db"), db);
  // Megabytes that nothing reads: a hole will do.
  await writeFile(join(data, "reserve"), "");
  await truncate(join(data, "reserve"), reserveBytes);
  return openIn(directory, data, readersMax, startThread);
}

/** Every migration is a transaction of its own on the disk: they are run once, and tests begin with a copy. */
let emptyStore: Promise<{ db: Uint8Array; reserveBytes: number }> | undefined;

async function makeEmptyStore(): Promise<{ db: Uint8Array; reserveBytes: number }> {
  const directory = await mkdtemp(join(tmpdir(), "cairn-empty-"));
  const { engine, data } = await openIn(directory, join(directory, "data"));
  await engine.close();
  const db = await readFile(join(data, "cairn.db"));
  const { size } = await stat(join(data, "reserve"));
  await rm(directory, { recursive: true });
  return { db, reserveBytes: size };
}

export async function openInMemory(startThread: StartThread = startKeptThread): Promise<SqliteUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "cairn-memory-"));
  return openIn(directory, undefined, 1, startThread);
}

/** Stores whose journal keeps no more changes than these, and at most so many more until it prunes some. */
export function keepingChanges(changesKept: number): StartThread {
  return (start, turn) => startKeptThread({ ...start, changesKept }, turn);
}

/** Opens the store in `data`; `directory` is removed by `discard`. */
export async function openIn<D extends string | undefined>(
  directory: string,
  data: D,
  readersMax = 1,
  startThread: StartThread = startKeptThread,
): Promise<SqliteUnderTest & { data: D }> {
  const options = {
    directory: data,
    readersMax,
    startThread,
    nowUs: () => NOW_US,
  };
  const store = await openSqlite(options);
  const link = await store.followRuns();
  const changes = linkRunChanges(link);
  link.port.unref();
  return {
    store,
    data,
    directory,
    engine: store,
    journal: store,
    namespaces: store,
    runs: store,
    points: store,
    logs: store,
    access: store,
    links: store,
    artifacts: store.artifacts,
    blobLedger: store.blobLedger,
    uploadLedger: store.uploadLedger,
    leases: store.leases,
    followRuns: () => store.followRuns(),
    changes,
    feed: new FeedRecorder(changes),
    settle: () => store.settle(),
    discard: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
    ...(data !== undefined && {
      reopen: async () => {
        await store.close();
        return openIn(directory, data, readersMax, startThread);
      },
    }),
  };
}

/** A data directory with a store that an earlier version wrote (formats.md). */
export async function unpackStore(file: string): Promise<{ directory: string; data: string }> {
  const directory = await mkdtemp(join(tmpdir(), "cairn-format-"));
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  const packed = await readFile(new URL(file, import.meta.url));
  await writeFile(join(data, "cairn.db"), gunzipSync(packed));
  return { directory, data };
}

/** Changes the file behind the store's back. The store may be open. */
export function tamper(data: string, change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(data, "cairn.db"), { timeout: 10_000 });
  try {
    change(db);
  } finally {
    db.close();
  }
}

export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1 << (at % 8);
  return copy;
}
