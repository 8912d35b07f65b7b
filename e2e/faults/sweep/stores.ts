import { join } from "node:path";
import { openFsBlobStore } from "#blob/fs/fs-blob-store.ts";
import type { Run } from "#core/types/run.ts";
import type { BlobsUnderTest } from "#store/contract/blob-under-test.ts";
import { openSqlite, type SqliteStore } from "#store/sqlite/open.ts";

export const NOW_US = 1_767_225_600_000_000;

/** The stores as the server opens them, in a directory of their own. */
export interface OpenStores {
  store: SqliteStore;
  blobs: BlobsUnderTest;
  close(): Promise<void>;
}

export async function openStores(directory: string): Promise<OpenStores> {
  const store = await openSqlite({ directory, readersMax: 1, nowUs: () => NOW_US });
  const blobs = await openFsBlobStore(join(directory, "blobs")).catch(async (thrown: unknown) => {
    await store.close();
    throw thrown;
  });
  return {
    store,
    blobs,
    close: async () => {
      try {
        await store.close();
      } finally {
        await blobs.close();
      }
    },
  };
}

export function newRun(id: string): Run {
  return {
    id,
    namespace: "faults",
    name: "a run",
    aliases: [],
    status: "running",
    notes: "",
    params: new Map(),
    tags: new Map(),
    provenance: undefined,
    createdUs: NOW_US,
    startedUs: NOW_US,
    endedUs: undefined,
    updatedUs: NOW_US,
    deletedUs: undefined,
    creator: "",
    endedBy: "",
    changedBy: "",
    deletedBy: "",
  };
}
