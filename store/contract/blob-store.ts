import { createHash } from "node:crypto";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { memoryInUse } from "#base/testing/memory-in-use.ts";
import type { ErrorCode } from "#core/errors.ts";
import type { BlobInfo, BlobStore, PutOptions } from "#core/ports/blob-store.ts";

import { uploadStoreContract } from "./blob-store-uploads.ts";

/** A new, empty store, and what the suite must know about the place it lives in. */
export interface BlobStoreUnderTest {
  store: BlobStore;
  /** Names of what lies around and belongs to no stored blob, such as unfinished uploads. */
  leftovers(): Promise<string[]>;
  /** Stops and starts again on the same data; absent where nothing outlives the store. */
  reopen?(): Promise<BlobStoreUnderTest>;
  /** Closes the store and removes everything. */
  discard(): Promise<void>;
}

export interface BlobStoreTraits {
  /** False for a store that keeps blobs in this process. */
  flatMemory: boolean;
}

const NO_LIMIT: PutOptions = { sizeBytesMax: Number.MAX_SAFE_INTEGER };
const EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const MIB = 1 << 20;
const STREAM_CHUNKS = 256;
const GROWTH_BYTES_MAX = 64 * MIB;

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function* streamOf(...chunks: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function listed(store: BlobStore): Promise<BlobInfo[]> {
  const all: BlobInfo[] = [];
  for await (const info of store.list()) all.push(info);
  return all.sort((a, b) => (a.digest < b.digest ? -1 : 1));
}

function refused(code: ErrorCode) {
  return expect.objectContaining({ name: "CairnError", code });
}

/** The behaviour every blob store shares; see core/ports/blob-store.ts. */
export function blobStoreContract(
  name: string,
  open: () => Promise<BlobStoreUnderTest>,
  traits: BlobStoreTraits,
): void {
  describe(`${name} as a blob store`, () => {
    let under: BlobStoreUnderTest;
    let store: BlobStore;

    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.discard());

    const putText = (text: string) => store.put(streamOf(text), NO_LIMIT);
    const readText = async (digest: string) => (await bytesOf((await store.get(digest)).body)).toString();
    const expectNothingKept = async () => {
      expect(await listed(store)).toEqual([]);
      expect(await under.leftovers()).toEqual([]);
    };

    describe("put", () => {
      it("returns the digest and the size, and keeps the bytes", async () => {
        const info = await store.put(streamOf("hello ", "", "world"), NO_LIMIT);
        expect(info).toEqual({ digest: digestOf(Buffer.from("hello world")), sizeBytes: 11 });
        expect(await readText(info.digest)).toBe("hello world");
        expect(await store.find(info.digest)).toEqual(info);
        expect(await under.leftovers()).toEqual([]);
      });

      it("keeps an empty blob", async () => {
        const info = await store.put(streamOf(), NO_LIMIT);
        expect(info).toEqual({ digest: EMPTY_DIGEST, sizeBytes: 0 });
        expect(await readText(info.digest)).toBe("");
      });

      it("keeps one copy of the same content", async () => {
        const first = await store.put(streamOf("same", "ness"), NO_LIMIT);
        const second = await store.put(streamOf("sam", "eness"), NO_LIMIT);
        expect(second).toEqual(first);
        expect(await listed(store)).toEqual([first]);
      });

      it("keeps one copy when the same content comes many times at once", async () => {
        const infos = await Promise.all(Array.from({ length: 20 }, () => putText("crowd")));
        expect(new Set(infos.map((info) => info.digest)).size).toBe(1);
        expect(await listed(store)).toEqual([infos[0]]);
        expect(await readText(infos[0]!.digest)).toBe("crowd");
        expect(await under.leftovers()).toEqual([]);
      });

      it("does not mind a stream that uses its buffer again", async () => {
        const buffer = Buffer.alloc(4);
        async function* reusing() {
          for (const text of ["abcd", "efgh"]) {
            buffer.write(text);
            yield buffer;
          }
          buffer.fill(0);
        }
        const info = await store.put(reusing(), NO_LIMIT);
        expect(await readText(info.digest)).toBe("abcdefgh");
      });

      it("accepts what was announced", async () => {
        const digest = digestOf(Buffer.from("abc"));
        const info = await store.put(streamOf("abc"), { sizeBytesMax: 3, expect: { digest, sizeBytes: 3 } });
        expect(info).toEqual({ digest, sizeBytes: 3 });
      });

      it.each([
        ["another digest than announced", { digest: EMPTY_DIGEST }],
        ["more bytes than announced", { sizeBytes: 2 }],
        ["fewer bytes than announced", { sizeBytes: 4 }],
        ["bytes where none were announced", { sizeBytes: 0 }],
        ["the announced digest with another size", { digest: digestOf(Buffer.from("abc")), sizeBytes: 4 }],
      ])("refuses %s and keeps nothing", async (_, announced) => {
        await expect(store.put(streamOf("abc"), { ...NO_LIMIT, expect: announced })).rejects.toEqual(
          refused("invalid"),
        );
        await expectNothingKept();
      });

      it("leaves a stored blob alone when a put that announced it brings something else", async () => {
        const info = await putText("good");
        const announced = { ...NO_LIMIT, expect: { digest: info.digest } };
        await expect(store.put(streamOf("evil"), announced)).rejects.toEqual(refused("invalid"));
        expect(await readText(info.digest)).toBe("good");
        expect(await listed(store)).toEqual([info]);
      });

      it("refuses what is beyond the limit, stops reading it, and keeps nothing", async () => {
        let asked = 0;
        let returned = false;
        async function* endless() {
          try {
            for (;;) {
              asked += 1;
              yield Buffer.alloc(10);
            }
          } finally {
            returned = true;
          }
        }
        await expect(store.put(endless(), { sizeBytesMax: 35 })).rejects.toEqual(refused("exhausted"));
        expect(asked).toBe(4);
        expect(returned).toBe(true);
        await expectNothingKept();
      });

      it("refuses an announced size beyond the limit before it reads anything", async () => {
        let asked = false;
        async function* watched() {
          asked = true;
          yield Buffer.alloc(1);
        }
        const options = { sizeBytesMax: 10, expect: { sizeBytes: 11 } };
        await expect(store.put(watched(), options)).rejects.toEqual(refused("exhausted"));
        expect(asked).toBe(false);
        await expectNothingKept();
      });

      it("keeps nothing of a stream that breaks off, and passes its error on", async () => {
        const failure = new Error("the client went away");
        async function* broken() {
          yield Buffer.from("half of i");
          throw failure;
        }
        await expect(store.put(broken(), NO_LIMIT)).rejects.toBe(failure);
        await expectNothingKept();
      });

      it("asks before a blob can be found, and keeps nothing when the answer is no", async () => {
        const seen: unknown[] = [];
        const beforePlace = async (blob: BlobInfo) => {
          seen.push(blob, await store.find(blob.digest));
        };
        const info = await store.put(streamOf("asked"), { ...NO_LIMIT, beforePlace });
        expect(seen).toEqual([info, undefined]);
        await store.delete(info.digest);

        const refusal = new Error("no");
        const refusing = { ...NO_LIMIT, beforePlace: () => Promise.reject(refusal) };
        await expect(store.put(streamOf("refused"), refusing)).rejects.toBe(refusal);
        await expectNothingKept();
      });

      it("does not ask about what was not as announced", async () => {
        const options = {
          ...NO_LIMIT,
          expect: { digest: EMPTY_DIGEST },
          beforePlace: () => Promise.reject(new Error("asked")),
        };
        await expect(store.put(streamOf("abc"), options)).rejects.toEqual(refused("invalid"));
      });
    });

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

      it("throws not-found for a digest nobody stored", async () => {
        await expect(store.get(EMPTY_DIGEST)).rejects.toEqual(refused("not-found"));
        expect(await store.find(EMPTY_DIGEST)).toBeUndefined();
      });

      it("lets go of a body that is returned unread or half read", async () => {
        const { digest } = await store.put(streamOf(Buffer.alloc(4 * MIB)), NO_LIMIT);
        const unread = (await store.get(digest)).body[Symbol.asyncIterator]();
        expect(await unread.return?.()).toEqual({ done: true, value: undefined });
        expect(await unread.next()).toEqual({ done: true, value: undefined });
        for await (const chunk of (await store.get(digest)).body) {
          expect(chunk.byteLength).toBeGreaterThan(0);
          break;
        }
        await store.delete(digest);
        await expectNothingKept();
      });

      it("hands out bytes that the reader may change", async () => {
        const { digest } = await putText("mine");
        for await (const chunk of (await store.get(digest)).body) chunk.fill(0);
        expect(await readText(digest)).toBe("mine");
      });

      it("returns every range of whatever came in whatever pieces", async () => {
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
      it("forgets what was deleted, and does not mind what is not there", async () => {
        const { digest } = await putText("short-lived");
        await store.delete(digest);
        expect(await store.find(digest)).toBeUndefined();
        await expect(store.get(digest)).rejects.toEqual(refused("not-found"));
        await store.delete(digest);
        await expectNothingKept();
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

      it("takes the same content again after a delete", async () => {
        const { digest } = await putText("phoenix");
        await store.delete(digest);
        await putText("phoenix");
        expect(await readText(digest)).toBe("phoenix");
      });

      it("lists everything once", async () => {
        const infos = await Promise.all(Array.from({ length: 40 }, (_, n) => putText(`blob ${n}`)));
        expect(await listed(store)).toEqual(infos.sort((a, b) => (a.digest < b.digest ? -1 : 1)));
      });

      it("lists only what was put before a time", async () => {
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

      it("lists on while blobs are deleted", async () => {
        await Promise.all(Array.from({ length: 40 }, (_, n) => putText(`blob ${n}`)));
        const seen = new Set<string>();
        for await (const info of store.list()) {
          seen.add(info.digest);
          await store.delete(info.digest);
        }
        expect(seen.size).toBe(40);
        await expectNothingKept();
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
      await expectNothingKept();
    });

    describe("uploads in pieces", () =>
      uploadStoreContract({
        current: () => under,
        replace: (reopened) => {
          under = reopened;
          store = under.store;
        },
      }));

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
      it("stores and reads 256 MiB without holding them", async () => {
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
