/** Artifacts of two cores on one store, as two servers have them. */
import fc from "fast-check";
import { afterEach, beforeEach } from "vitest";
import { OWNER, type Caller } from "#core/access/caller.ts";
import type { Artifacts } from "#core/artifacts/artifacts.ts";
import type { UploadHead } from "#core/artifacts/uploads.ts";
import type { BlobLedger } from "#core/ports/blob-ledger.ts";
import type { PutOptions } from "#core/types/blob.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { BlobsUnderTest } from "../blob-under-test.ts";
import { buildCore, type CoreUnderTest } from "../core-under-test.ts";
import { useStores, type Bench, type OpenStores } from "../stores.ts";

/** Opens the same blobs twice, as two servers see them; `discard` removes them. */
export type OpenSharedBlobs = () => Promise<{
  stores: [BlobsUnderTest, BlobsUnderTest];
  discard(): Promise<void>;
}>;

export const WRITER: Caller = { ...OWNER, permission: "write" };
export const MAINTAINER: Caller = { ...OWNER, permission: "maintain" };

export interface TwoCores {
  readonly stores: Bench;
  readonly blobs: BlobsUnderTest;
  readonly cores: readonly [Artifacts, Artifacts];
  clock: { us: number; nowUs(): number };
  /** How many other steps come before the next one of the blobs; a schedule replaces it. */
  pause: () => Promise<void>;
  /** Between marking a blob and deleting it. */
  beforeDelete: () => Promise<void>;
}

export function useTwoCores(open: OpenStores, openBlobs: OpenSharedBlobs): TwoCores {
  const stores = useStores(open);
  let opened: Awaited<ReturnType<OpenSharedBlobs>>;
  let built: [CoreUnderTest, CoreUnderTest];
  let cores: [Artifacts, Artifacts];
  const clock = { us: 0, nowUs: () => clock.us };
  const two: TwoCores = {
    stores,
    get blobs() {
      return opened.stores[0];
    },
    get cores() {
      return cores;
    },
    clock,
    pause: () => Promise.resolve(),
    beforeDelete: () => two.pause(),
  };
  beforeEach(async () => {
    // Blobs are stamped by the system's clock.
    clock.us = Date.now() * 1000;
    two.pause = () => Promise.resolve();
    two.beforeDelete = () => two.pause();
    opened = await openBlobs();
    const build = (blobs: BlobsUnderTest) =>
      buildCore(
        { ...stores.under, blobLedger: slowedLedger(stores.under.blobLedger, () => two.pause()) },
        {
          blobs: slowed(blobs, two),
          clock,
          onSweepFailure: (thrown) => {
            throw thrown;
          },
        },
      );
    built = [await build(opened.stores[0]), await build(opened.stores[1])];
    cores = [built[0].artifacts, built[1].artifacts];
  });
  afterEach(async () => {
    for (const core of built) await core.close();
    await opened.discard();
  });
  return two;
}

/** A schedule: numbers that decide how many calls of the store come between two steps of the blob store. */
export const pauses = fc.infiniteStream(
  fc.oneof({ weight: 9, arbitrary: fc.noBias(fc.nat(5)) }, { weight: 1, arbitrary: fc.constant(40) }),
);

export function pauseBy(two: TwoCores, numbers: fc.Stream<number>): () => Promise<void> {
  return async () => {
    for (let n = numbers.next().value; n > 0; n--) await two.stores.under.blobLedger.listUnusedBlobs(1);
  };
}

/** Other steps may also run between listing unused blobs and marking them. */
function slowedLedger(ledger: BlobLedger, pause: () => Promise<void>): BlobLedger {
  return {
    ...ledger,
    markBlobs: async (...args) => {
      await pause();
      return ledger.markBlobs(...args);
    },
  };
}

/** Every step that others can interleave with takes a while. */
function slowed(blobs: BlobsUnderTest, two: TwoCores): BlobsUnderTest {
  const pause = () => two.pause();
  const places: <T extends { beforePlace?: PutOptions["beforePlace"] }>(o: T) => T = (options) => ({
    ...options,
    beforePlace: async (blob) => {
      await pause();
      await options.beforePlace?.(blob);
      await pause();
    },
  });
  const then = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    await pause();
    return done;
  };
  return {
    put: (content, options) => then(blobs.put(content, places(options))),
    get: (...args) => blobs.get(...args),
    find: (...args) => blobs.find(...args),
    delete: async (digest) => {
      await two.beforeDelete();
      await then(blobs.delete(digest));
    },
    list: (...args) => blobs.list(...args),
    listUploads: () => blobs.listUploads(),
    findUpload: (...args) => then(blobs.findUpload(...args)),
    appendUpload: async (...args) => {
      await pause();
      return then(blobs.appendUpload(...args));
    },
    finishUpload: (id, options) => then(blobs.finishUpload(id, places(options))),
    dropUpload: (...args) => then(blobs.dropUpload(...args)),
    close: () => blobs.close(),
  };
}

export function byId(id: string): RunRef {
  return { by: "id", id };
}

export function head(name: string): UploadHead {
  return { name, step: undefined, kind: "file", mediaType: "", metadata: new Map() };
}
