import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { memoryInUse } from "#base/testing/memory-in-use.ts";
import type { BlobInfo } from "#core/types/blob.ts";

import { putContract } from "./put.ts";
import { uploadStoreContract } from "./uploads.ts";
import {
  type BlobsUnderTest,
  type BlobStoreUnderTest,
  bytesOf,
  EMPTY_DIGEST,
  expectNothingKept,
  listed,
  NO_LIMIT,
  refused,
  streamOf,
  textOf,
} from "../blob-under-test.ts";

export interface BlobStoreTraits {
  /** False for a store that keeps blobs in this process. */
  flatMemory: boolean;
  /** Whether it has the capability of this name. */
  copies: boolean;
}

const MIB = 1 << 20;
const STREAM_CHUNKS = 128;
const GROWTH_BYTES_MAX = 64 * MIB;

/** The behaviour of every blob store; see core/ports/blob-store.ts. */
export function blobStoreContract(
  name: string,
  open: () => Promise<BlobStoreUnderTest>,
  traits: BlobStoreTraits,
): void {
  describe(`${name} as a blob store`, () => {
    let under: BlobStoreUnderTest;
    let store: BlobsUnderTest;

    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.discard());

    const putText = (text: string) => store.put(streamOf(text), NO_LIMIT);
    const readText = (digest: string) => textOf(store, digest);

    describe("put", () => putContract(() => under));

    describe("get", () => {
      it.each([
        [0, 10, "0123456789"],
        [0, 1, "0"],
        [9, 10, "9"],
        [3, 7, "3456"],
        [0, 0, ""],
        [5, 5, ""],
        [10, 10, ""],
      ])("reads [%i, %i)", async (start, end, text) => {
        const { digest } = await putText("0123456789");
        const content = await store.get(digest, { start, end });
        expect(content.sizeBytes).toBe(10);
        expect(content.digest).toBe(digest);
        expect((await bytesOf(content.body)).toString()).toBe(text);
      });

      it.each([
        [0, 11],
        [10, 11],
        [11, 11],
        [5, 4],
        [-1, 3],
        [0.5, 3],
        [0, 2.5],
        [Number.NaN, 3],
        [0, Number.POSITIVE_INFINITY],
      ])("refuses [%d, %d) of 10 bytes", async (start, end) => {
        const { digest } = await putText("0123456789");
        await expect(store.get(digest, { start, end })).rejects.toEqual(refused("invalid"));
      });

      it("reads the only range of an empty blob", async () => {
        const { digest } = await store.put(streamOf(), NO_LIMIT);
        expect(await bytesOf((await store.get(digest, { start: 0, end: 0 })).body)).toHaveLength(0);
        await expect(store.get(digest, { start: 0, end: 1 })).rejects.toEqual(refused("invalid"));
      });

      it("throws not-found for an unknown digest", async () => {
        await expect(store.get(EMPTY_DIGEST)).rejects.toEqual(refused("not-found"));
        expect(await store.find(EMPTY_DIGEST)).toBeUndefined();
      });

      it("releases a body that is returned unread or half read", async () => {
        const { digest } = await store.put(streamOf(Buffer.alloc(4 * MIB)), NO_LIMIT);
        const unread = (await store.get(digest)).body[Symbol.asyncIterator]();
        expect(await unread.return?.()).toEqual({ done: true, value: undefined });
        expect(await unread.next()).toEqual({ done: true, value: undefined });
        for await (const chunk of (await store.get(digest)).body) {
          expect(chunk.byteLength).toBeGreaterThan(0);
          break;
        }
        await store.delete(digest);
        await expectNothingKept(under);
      });

      it("returns bytes that the reader may change", async () => {
        const { digest } = await putText("mine");
        for await (const chunk of (await store.get(digest)).body) chunk.fill(0);
        expect(await readText(digest)).toBe("mine");
      });

      it("returns every range of any content in any pieces", async () => {
        const property = fc.asyncProperty(
          fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 8 }),
          fc.nat(),
          fc.nat(),
          async (chunks, a, b) => {
            const bytes = Buffer.concat(chunks);
            const { digest } = await store.put(streamOf(...chunks), NO_LIMIT);
            const [start, end] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y);
            expect(await bytesOf((await store.get(digest)).body)).toEqual(bytes);
            const part = await store.get(digest, { start: start!, end: end! });
            expect(await bytesOf(part.body)).toEqual(bytes.subarray(start, end));
          },
        );
        await fc.assert(property, { numRuns: 25 });
      });
    });

    describe("delete and list", () => {
      it("deletes blobs, and ignores missing ones", async () => {
        const { digest } = await putText("short-lived");
        await store.delete(digest);
        expect(await store.find(digest)).toBeUndefined();
        await expect(store.get(digest)).rejects.toEqual(refused("not-found"));
        await store.delete(digest);
        await expectNothingKept(under);
      });

      it("lets a reader that has begun finish", async () => {
        const bytes = Buffer.alloc(3 * MIB, "x");
        const { digest } = await store.put(streamOf(bytes), NO_LIMIT);
        const unread = await store.get(digest);
        const reading = (await store.get(digest)).body[Symbol.asyncIterator]();
        const first = await reading.next();
        await store.delete(digest);
        let length = first.done === true ? 0 : first.value.byteLength;
        for (let next = await reading.next(); next.done !== true; next = await reading.next()) {
          length += next.value.byteLength;
        }
        expect(length).toBe(bytes.length);
        expect((await bytesOf(unread.body)).equals(bytes)).toBe(true);
      });

      it("stores the same content again after a delete", async () => {
        const { digest } = await putText("phoenix");
        await store.delete(digest);
        await putText("phoenix");
        expect(await readText(digest)).toBe("phoenix");
      });

      it("lists everything once", async () => {
        const infos = await Promise.all(Array.from({ length: 40 }, (_, n) => putText(`blob ${n}`)));
        expect(await listed(store)).toEqual(infos.sort((a, b) => (a.digest < b.digest ? -1 : 1)));
      });

      it("lists only blobs put before a time", async () => {
        const info = await putText("old enough");
        const since = async (putBeforeMs: number) => {
          const all: BlobInfo[] = [];
          for await (const one of store.list({ putBeforeMs })) all.push(one);
          return all;
        };
        // File systems and clocks may differ by a tick.
        expect(await since(Date.now() - 60_000)).toEqual([]);
        expect(await since(Date.now() + 60_000)).toEqual([info]);
      });

      it("continues to list while blobs are deleted", async () => {
        await Promise.all(Array.from({ length: 40 }, (_, n) => putText(`blob ${n}`)));
        const seen = new Set<string>();
        for await (const info of store.list()) {
          seen.add(info.digest);
          await store.delete(info.digest);
        }
        expect(seen.size).toBe(40);
        await expectNothingKept(under);
      });
    });

    it.each([
      ["of nothing", ""],
      ["of dots", ".."],
      ["that climbs", "../../../../etc/passwd"],
      ["that is absolute", "/etc/passwd"],
      ["that climbs and has the right length", `../${"a".repeat(61)}`],
      ["with a slash", `${"a".repeat(62)}/.`],
      ["with an encoded slash", `..%2f${"a".repeat(59)}`],
      ["with a backslash", `${"a".repeat(63)}\\`],
      ["with a zero byte", `${"a".repeat(63)}\u0000`],
      ["with a line break", `${"a".repeat(64)}\n`],
      ["in capitals", "A".repeat(64)],
      ["too short", "a".repeat(63)],
      ["too long", "a".repeat(65)],
      ["much too long", "a".repeat(100_000)],
      ["named as a prototype", "__proto__"],
      ["named as a file of the store", "format"],
    ])("refuses a digest %s wherever one is given", async (_, digest) => {
      const options = { ...NO_LIMIT, expect: { digest } };
      await expect(store.get(digest)).rejects.toEqual(refused("invalid"));
      await expect(store.find(digest)).rejects.toEqual(refused("invalid"));
      await expect(store.delete(digest)).rejects.toEqual(refused("invalid"));
      await expect(store.put(streamOf("x"), options)).rejects.toEqual(refused("invalid"));
      await expectNothingKept(under);
    });

    describe("uploads in pieces", () =>
      uploadStoreContract({
        current: () => under,
        replace: (reopened) => {
          under = reopened;
          store = under.store;
        },
      }));

    it("has copies if it says so", () => expect(store.copies !== undefined).toBe(traits.copies));

    if (traits.copies)
      it("copies every blob to a folder, also twice at once, and takes missing ones back", async () => {
        const copies = store.copies!;
        const texts = Array.from({ length: 40 }, (_, i) => `text ${i}`);
        for (const text of texts) await putText(text);
        const all = await listed(store);
        const directory = await mkdtemp(join(tmpdir(), "cairn-copies-"));
        const folder = join(directory, "copy");
        await Promise.all([copies.copyTo(folder), copies.copyTo(folder)]);
        for (const { digest } of all.slice(1)) await store.delete(digest);
        await copies.takeFrom(join(directory, "none"));
        expect(await listed(store)).toEqual(all.slice(0, 1));
        await copies.takeFrom(folder);
        expect(await listed(store)).toEqual(all);
        const read = await Promise.all(all.map(({ digest }) => readText(digest)));
        expect(read.toSorted()).toEqual(texts.toSorted());
        await rm(directory, { recursive: true });
      });

    it("refuses everything after close", async () => {
      const { digest } = await putText("closing time");
      await store.close();
      await expect(putText("late")).rejects.toEqual(refused("unavailable"));
      await expect(store.get(digest)).rejects.toEqual(refused("unavailable"));
      await expect(store.find(digest)).rejects.toEqual(refused("unavailable"));
      await expect(store.delete(digest)).rejects.toEqual(refused("unavailable"));
      await expect(listed(store)).rejects.toEqual(refused("unavailable"));
      await expect(store.findUpload(digest)).rejects.toEqual(refused("unavailable"));
      await expect(store.appendUpload(digest, 0, streamOf("x"))).rejects.toEqual(refused("unavailable"));
      await expect(store.finishUpload(digest, { expect: { digest, sizeBytes: 1 } })).rejects.toEqual(
        refused("unavailable"),
      );
      await expect(store.dropUpload(digest)).rejects.toEqual(refused("unavailable"));
      await store.close();
    });

    if (traits.flatMemory)
      it("stores and reads 128 MiB without buffering them", async () => {
        const block = Buffer.alloc(MIB, "cairn");
        const before = memoryInUse().external;
        let peak = before;
        let passed = 0;
        const measure = (bytes: number) => {
          passed += bytes;
          if (passed % (16 * MIB) === 0) peak = Math.max(peak, memoryInUse().external);
        };
        async function* large() {
          for (let n = 0; n < STREAM_CHUNKS; n += 1) {
            measure(MIB);
            yield block;
          }
        }
        const info = await store.put(large(), NO_LIMIT);
        expect(info.sizeBytes).toBe(STREAM_CHUNKS * MIB);
        let read = 0;
        for await (const chunk of (await store.get(info.digest)).body) {
          read += chunk.byteLength;
          measure(chunk.byteLength);
        }
        expect(read).toBe(info.sizeBytes);
        expect(peak - before).toBeLessThan(GROWTH_BYTES_MAX);
      });
  });
}
