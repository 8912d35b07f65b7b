import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ErrorCode } from "#lang/errors.ts";
import type { BlobStore } from "#core/ports/blob-store.ts";

import { openFsBlobStore } from "./fs-blob-store.ts";
import { type Call, failingDisk, losingDisk, watchedDisk } from "./testing/disks.ts";

const NO_LIMIT = { sizeBytesMax: Number.MAX_SAFE_INTEGER };
const CALLS_MAX = 100;

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

const TEXT = "half and half";
const DIGEST = digestOf(TEXT);
const putText = (store: BlobStore) => store.put(streamOf("half and", " half"), NO_LIMIT);

describe("fs on a failing disk", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-blob-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("syncs the file, then renames it, then syncs the directory, then answers", async () => {
    const calls: Call[] = [];
    const store = await openFsBlobStore(
      directory,
      watchedDisk((call) => calls.push(call)),
    );
    calls.length = 0;
    await putText(store);
    const order = calls.filter((call) => /write|sync|rename|close/.test(call));
    expect(order.filter((call, at) => call !== order[at - 1])).toEqual([
      "file.write",
      "file.sync",
      "file.close",
      "syncDirectory",
      "rename",
      "syncDirectory",
    ]);
    await store.close();
  });

  it.each<[string, ErrorCode, RegExp]>([
    ["ENOSPC", "unavailable", /free space/],
    ["EDQUOT", "unavailable", /free space/],
    ["EROFS", "unavailable", /read and write/],
    ["EACCES", "unavailable", /read and write/],
    ["EIO", "unavailable", /check the disk/],
    ["EMFILE", "unavailable", /limits/],
  ])("answers %s with %s and a hint, whichever call of a put it hits", async (errno, code, hint) => {
    for (let nth = 1; nth < CALLS_MAX; nth += 1) {
      const place = join(directory, String(nth));
      const { disk, arm, failed } = failingDisk(errno);
      const store = await openFsBlobStore(place, disk);
      arm(nth);
      const outcome = await putText(store).then(
        () => "stored",
        (error: unknown) => error,
      );
      arm(0);
      if (outcome === "stored") expect(failed()).toBeUndefined();
      else expect(outcome).toMatchObject({ name: "CairnError", code, hint: expect.stringMatching(hint) });
      await store.close();
      expect(await readdir(join(place, "incoming"))).toEqual([]);

      const after = await openFsBlobStore(place);
      if (outcome === "stored" || (await after.find(DIGEST)) !== undefined) {
        expect(await textOf(after, DIGEST)).toBe(TEXT);
      }
      await after.close();
      if (outcome === "stored") return;
    }
    throw new Error("no put got through");
  });

  it("opens or says why not, whichever call fails, and opens the next time", async () => {
    for (let nth = 1; nth < CALLS_MAX; nth += 1) {
      const place = join(directory, String(nth));
      const { disk, arm, failed } = failingDisk("EIO");
      arm(nth);
      const outcome = await openFsBlobStore(place, disk).catch((error: unknown) => error);
      if (failed() !== undefined) expect(outcome).toMatchObject({ name: "CairnError", code: "unavailable" });
      const store = await openFsBlobStore(place);
      await putText(store);
      expect(await textOf(store, DIGEST)).toBe(TEXT);
      await store.close();
      if (failed() === undefined) return;
    }
    throw new Error("opening never got through");
  });

  it("reads, finds, lists and deletes or says why not, whichever call fails", async () => {
    const { disk, arm, failed } = failingDisk("EIO");
    const store = await openFsBlobStore(directory, disk);
    const actions: (() => Promise<unknown>)[] = [
      () => textOf(store, DIGEST),
      () => store.find(DIGEST),
      () => store.list()[Symbol.asyncIterator]().next(),
      () => store.delete(DIGEST),
    ];
    await putText(store);
    for (const action of actions) {
      for (let nth = 1; ; nth += 1) {
        expect(nth).toBeLessThan(CALLS_MAX);
        arm(nth);
        const outcome = await action().then(
          () => undefined,
          (error: unknown) => error,
        );
        arm(0);
        if (failed() === undefined) break;
        expect(outcome).toMatchObject({ name: "CairnError", code: "unavailable" });
      }
    }
    await store.close();
  });

  it("stores again once a full disk has room", async () => {
    const { disk, arm } = failingDisk("ENOSPC");
    const store = await openFsBlobStore(directory, disk);
    for (let nth = 1; nth <= 8; nth += 1) {
      arm(nth);
      await expect(putText(store)).rejects.toMatchObject({ reason: "DISK_FULL" });
    }
    arm(0);
    await putText(store);
    expect(await textOf(store, DIGEST)).toBe(TEXT);
    await store.close();
  });

  it("stores nothing more after a failed sync, but still reads", async () => {
    for (const sync of ["file.sync", "syncDirectory"] as const) {
      let broken = false;
      const disk = watchedDisk((call) => {
        if (broken && call === sync) throw Object.assign(new Error("EIO: planted"), { code: "EIO" });
      });
      const store = await openFsBlobStore(join(directory, sync), disk);
      const { digest } = await store.put(streamOf("before"), NO_LIMIT);
      broken = true;
      await expect(putText(store)).rejects.toMatchObject({ code: "unavailable" });
      broken = false;
      await expect(putText(store)).rejects.toMatchObject({ code: "unavailable", reason: "SYNC_FAILED" });
      expect(await textOf(store, digest)).toBe("before");
      await store.close();
    }
  });

  it("keeps every acknowledged blob whole when the power fails at any call", async () => {
    for (let nth = 1; nth < CALLS_MAX; nth += 1) {
      const place = join(directory, String(nth));
      const { disk, fail } = losingDisk(nth);
      const acknowledged: string[] = [];
      const store = await openFsBlobStore(place, disk).catch(() => undefined);
      for (const text of ["first", "second", "first", TEXT]) {
        await store?.put(streamOf(text), NO_LIMIT).then(
          () => acknowledged.push(text),
          () => {},
        );
      }
      const survived = acknowledged.length === 4;
      await fail();

      const after = await openFsBlobStore(place);
      for (const text of acknowledged) expect(await textOf(after, digestOf(text))).toBe(text);
      for await (const { digest } of after.list()) expect(digestOf(await textOf(after, digest))).toBe(digest);
      await after.close();
      if (survived) return;
    }
    throw new Error("the last put never got through");
  });
});
