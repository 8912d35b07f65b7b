/** Two cores on one store, as two servers have it, with as many interleavings as the dose allows. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { openFsBlobStore } from "#blob/fs/fs-blob-store.ts";
import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import { openColumns } from "#store/columns/open.ts";
import type { OpenSharedBlobs } from "#store/contract/two-cores/bench.ts";
import { twoCoresBlobsContract } from "#store/contract/two-cores/blobs.ts";
import { twoCoresChoresContract } from "#store/contract/two-cores/chores.ts";
import { twoCoresSearchContract, type OpenSearched } from "#store/contract/two-cores/search.ts";
import { twoCoresUploadsContract } from "#store/contract/two-cores/uploads.ts";
import { openInMemory, openOnDisk } from "#store/sqlite/testing/under-test.ts";
import { dose } from "../tools/dose.ts";

const sharedMemory: OpenSharedBlobs = async () => {
  const blobs = openMemoryBlobStore();
  return { stores: [blobs, blobs], discard: () => blobs.close() };
};

/** Two servers on one folder. */
const sharedFolder: OpenSharedBlobs = async () => {
  const directory = await mkdtemp(join(tmpdir(), "cairn-shared-"));
  const [here, there] = [await openFsBlobStore(directory), await openFsBlobStore(directory)];
  const discard = async () => {
    await here.close();
    await there.close();
    await rm(directory, { recursive: true });
  };
  return { stores: [here, there], discard };
};

const withRunIndex: OpenSearched = async () => {
  const under = await openInMemory();
  const { search, follow } = openColumns();
  await follow(await under.followRuns());
  const discard = async () => {
    await search.close();
    await under.discard();
  };
  return { ...under, search, discard };
};

describe("chores", () => twoCoresChoresContract(openInMemory, dose(60, 1_000)));
describe("with one run index", () => twoCoresSearchContract(withRunIndex));
describe("in memory", () => {
  describe("blobs", () => twoCoresBlobsContract(openInMemory, sharedMemory, dose(60, 2_000)));
  describe("uploads", () => twoCoresUploadsContract(openInMemory, sharedMemory, dose(60, 2_000)));
});
describe("on disk", () => {
  describe("blobs", () => twoCoresBlobsContract(() => openOnDisk(), sharedFolder, dose(10, 200)));
  describe("uploads", () => twoCoresUploadsContract(() => openOnDisk(), sharedFolder, dose(10, 200)));
});
