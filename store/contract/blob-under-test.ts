import { createHash } from "node:crypto";

import { expect } from "vitest";

import type { ErrorCode } from "#lang/errors.ts";
import type { BlobStore } from "#core/ports/blob-store.ts";
import type { BlobInfo, PutOptions } from "#core/types/blob.ts";
import type { UploadStore } from "#core/ports/upload-store.ts";

/** Blobs, and the uploads that become some of them. */
export type BlobsUnderTest = BlobStore & UploadStore;

/** A new, empty store, and what the suite must know about its place. */
export interface BlobStoreUnderTest {
  store: BlobsUnderTest;
  /** Names of files that belong to no stored blob, such as unfinished uploads. */
  leftovers(): Promise<string[]>;
  /** Stops and starts again on the same data; absent where nothing outlives the store. */
  reopen?(): Promise<BlobStoreUnderTest>;
  /** Closes the store and removes everything. */
  discard(): Promise<void>;
}

export const NO_LIMIT: PutOptions = { sizeBytesMax: Number.MAX_SAFE_INTEGER };
export const EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export function digestOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export async function* streamOf(...chunks: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function listed(store: BlobStore): Promise<BlobInfo[]> {
  const all: BlobInfo[] = [];
  for await (const info of store.list()) all.push(info);
  return all.sort((a, b) => (a.digest < b.digest ? -1 : 1));
}

export function refused(code: ErrorCode) {
  return expect.objectContaining({ name: "CairnError", code });
}

export async function textOf(store: BlobStore, digest: string): Promise<string> {
  return (await bytesOf((await store.get(digest)).body)).toString();
}

export async function expectNothingKept(under: BlobStoreUnderTest): Promise<void> {
  expect(await listed(under.store)).toEqual([]);
  expect(await under.leftovers()).toEqual([]);
}
