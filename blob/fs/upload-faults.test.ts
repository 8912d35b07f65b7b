import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { BlobStore } from "#core/ports/blob-store.ts";

import { openFsBlobStore } from "./fs-blob-store.ts";
import { type Call, failingDisk, losingDisk, watchedDisk } from "./testing/disks.ts";

const CALLS_MAX = 100;
const TEXT = "half and half";
const DIGEST = digestOf(TEXT);
const WHOLE = { digest: DIGEST, sizeBytes: TEXT.length };
const UPLOAD = digestOf("an upload");

async function* streamOf(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function textOf(store: BlobStore, digest: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await store.get(digest)).body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

describe("uploads in pieces on a failing disk", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-blob-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("syncs what an earlier process wrote before it becomes a blob", async () => {
    const before = await openFsBlobStore(directory);
    await before.appendUpload(UPLOAD, 0, streamOf(TEXT));
    await before.close();
    const calls: Call[] = [];
    const store = await openFsBlobStore(
      directory,
      watchedDisk((call) => calls.push(call)),
    );
    calls.length = 0;
    await store.finishUpload(UPLOAD, { expect: WHOLE });
    const order = calls.filter((call) => /sync|rename/.test(call));
    expect(order).toEqual(["file.sync", "syncDirectory", "rename", "syncDirectory"]);
    await store.close();
  });

  it.each(["ENOSPC", "EIO"])("keeps acknowledged pieces, whichever call meets %s", async (errno) => {
    for (let nth = 1; nth < CALLS_MAX; nth += 1) {
      const place = join(directory, String(nth));
      const { disk, arm, failed } = failingDisk(errno);
      const store = await openFsBlobStore(place, disk);
      expect(await store.appendUpload(UPLOAD, 0, streamOf("half "))).toBe(5);
      arm(nth);
      const outcome = await (async () => {
        await store.appendUpload(UPLOAD, 5, streamOf("and ", "half"));
        return store.finishUpload(UPLOAD, { expect: WHOLE });
      })().catch((error: unknown) => error);
      const call = failed();
      arm(0);
      if (call === undefined) {
        expect(outcome).toEqual(WHOLE);
        expect(await textOf(store, DIGEST)).toBe(TEXT);
        await store.close();
        return;
      }
      // A close that fails after the sync has lost nothing.
      if (call === "file.close") expect(outcome).toEqual(WHOLE);
      else expect(outcome).toMatchObject({ name: "CairnError", code: "unavailable" });
      await store.close();

      // After any failure the client continues where the server says, and the upload is complete.
      const after = await openFsBlobStore(place);
      if ((await after.find(DIGEST)) === undefined) {
        const { sizeBytes } = (await after.findUpload(UPLOAD))!;
        expect(sizeBytes).toBeGreaterThanOrEqual(5);
        await after.appendUpload(UPLOAD, sizeBytes, streamOf(TEXT.slice(sizeBytes)));
        await after.finishUpload(UPLOAD, { expect: WHOLE });
      }
      expect(await textOf(after, DIGEST)).toBe(TEXT);
      await after.close();
    }
    throw new Error("no upload got through");
  });

  it("keeps every acknowledged piece when the power fails at any call", async () => {
    for (let nth = 1; nth < CALLS_MAX; nth += 1) {
      const place = join(directory, String(nth));
      const { disk, fail } = losingDisk(nth);
      let acknowledged = 0;
      let finished = false;
      await (async () => {
        const store = await openFsBlobStore(place, disk);
        for (const piece of ["half ", "and ", "half"]) {
          acknowledged = await store.appendUpload(UPLOAD, acknowledged, streamOf(piece));
        }
        await store.finishUpload(UPLOAD, { expect: WHOLE });
        finished = true;
      })().catch(() => {});
      await fail();

      const after = await openFsBlobStore(place);
      if ((await after.find(DIGEST)) === undefined) {
        expect(finished).toBe(false);
        const size = (await after.findUpload(UPLOAD))?.sizeBytes ?? 0;
        expect(size).toBeGreaterThanOrEqual(acknowledged);
        await after.appendUpload(UPLOAD, size, streamOf(TEXT.slice(size)));
        await after.finishUpload(UPLOAD, { expect: WHOLE });
      }
      expect(await textOf(after, DIGEST)).toBe(TEXT);
      await after.close();
      if (finished) return;
    }
    throw new Error("the last piece never got through");
  });

  it("gives the space of a piece back when the disk is full", async () => {
    let full = false;
    const disk = watchedDisk((call) => {
      if (full && call === "file.sync") throw Object.assign(new Error("ENOSPC: planted"), { code: "ENOSPC" });
    });
    const store = await openFsBlobStore(directory, disk);
    await store.appendUpload(UPLOAD, 0, streamOf("half "));
    full = true;
    await expect(store.appendUpload(UPLOAD, 5, streamOf("and half"))).rejects.toMatchObject({
      code: "unavailable",
      reason: "DISK_FULL",
      retryAfterMs: 1_000,
    });
    full = false;
    expect(await store.findUpload(UPLOAD)).toMatchObject({ sizeBytes: 5 });
    await store.appendUpload(UPLOAD, 5, streamOf("and half"));
    expect(await store.finishUpload(UPLOAD, { expect: WHOLE })).toEqual(WHOLE);
    await store.close();
  });
});
