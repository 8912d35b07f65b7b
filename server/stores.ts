import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import { openFsBlobStore } from "#blob/fs/fs-blob-store.ts";
import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import type { CairnError } from "#lang/errors.ts";
import type { Ports } from "#core/open-core.ts";
import { openColumns } from "#store/columns/open.ts";
import { openSqlite } from "#store/sqlite/open.ts";
import type { StartThread } from "#store/sqlite/thread.ts";
import { MEMORY, type Settings } from "./settings/settings.ts";

export interface Stores extends Ports {
  /** Engine names, for display. */
  engines: Record<string, string>;
  /** Resolves when one of them cannot write any more until a restart, with the reason; else never. */
  failed: Promise<CairnError>;
  /** Refuses every write from now on, with this error. Reads continue. */
  stopWriting(error: CairnError): void;
  /** Closes all of them, also after one that cannot be closed; throws why that is. */
  close(): Promise<void>;
}

/** Opens the stores of the settings. Each port has one engine so far; others will be added here. */
export async function openStores(settings: Settings, startThread?: StartThread): Promise<Stores> {
  const directory = settings.data === MEMORY ? undefined : settings.data;
  const columns = openColumns(
    directory === undefined ? {} : { snapshot: join(directory, "run-index.snapshot") },
  );
  const opened: Closable[] = [columns.search];
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAll(opened));
  const blobsFailed = Promise.withResolvers<CairnError>();
  const stopped = Promise.withResolvers<CairnError>();
  try {
    const store = await openSqlite({
      directory,
      nowUs: () => systemClock.nowUs(),
      ...(startThread !== undefined && { startThread }),
    });
    opened.push(store);
    const blobs =
      settings.blobs === "memory" || directory === undefined
        ? openMemoryBlobStore()
        : await openFsBlobStore(join(directory, "blobs"), undefined, blobsFailed.resolve);
    opened.push(blobs);
    await columns.follow(await store.followRuns());
    return {
      engine: store,
      journal: store,
      namespaces: store,
      runs: store,
      points: store,
      access: store,
      links: store,
      artifacts: store.artifacts,
      blobLedger: store.blobLedger,
      uploadLedger: store.uploadLedger,
      leases: store.leases,
      logs: store,
      blobs,
      uploads: blobs,
      search: columns.search,
      engines: {
        store: directory === undefined ? "sqlite in memory" : settings.store,
        blobs: settings.blobs,
        search: settings.search,
      },
      failed: Promise.race([store.failed, blobsFailed.promise, stopped.promise]),
      stopWriting: (error) => {
        store.stopWriting(error);
        stopped.resolve(error);
      },
      close,
    };
  } catch (thrown) {
    await close().catch(() => undefined);
    throw thrown;
  }
}

interface Closable {
  close(): Promise<void>;
}

/** One after the other, also after one that cannot be closed. Throws the first failure. */
async function closeAll(opened: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const one of opened) await one.close().catch((thrown: unknown) => failures.push(thrown));
  if (failures.length > 0) throw failures[0];
}
