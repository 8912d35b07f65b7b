import { createHash } from "node:crypto";

import fc from "fast-check";
import { expect, it } from "vitest";

import type { CairnError, ErrorCode } from "#lang/errors.ts";
import type { UploadInfo } from "#core/ports/upload-store.ts";
import type { BlobInfo } from "#core/types/blob.ts";

import type { BlobStoreUnderTest } from "../blob-under-test.ts";

const ID = "1".repeat(64);
const OTHER = "2".repeat(64);
const TEXT = "in pieces and whole";
const WHOLE = infoOf(TEXT);

function infoOf(text: string): BlobInfo {
  const digest = createHash("sha256").update(text).digest("hex");
  return { digest, sizeBytes: Buffer.byteLength(text) };
}

async function* streamOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* brokenAfter(text: string, error: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
  throw error;
}

function refused(code: ErrorCode, more: Partial<CairnError> = {}) {
  return expect.objectContaining({ name: "CairnError", code, ...more });
}

/** The part of the contract about content that comes in pieces; see core/ports/upload-store.ts. */
export function uploadStoreContract(bench: {
  current(): BlobStoreUnderTest;
  replace(under: BlobStoreUnderTest): void;
}): void {
  const store = () => bench.current().store;
  const reopen = async () => {
    const reopened = await bench.current().reopen?.();
    if (reopened !== undefined) bench.replace(reopened);
  };
  const uploads = async () => {
    const all: UploadInfo[] = [];
    for await (const upload of store().listUploads()) all.push(upload);
    return all;
  };
  const blobs = async () => {
    const all: BlobInfo[] = [];
    for await (const blob of store().list()) all.push(blob);
    return all;
  };
  const textOf = async ({ digest }: BlobInfo) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await store().get(digest)).body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const sizeOf = async (id: string) => (await store().findUpload(id))?.sizeBytes;

  it("keeps pieces, which are not a blob before the last one", async () => {
    expect(await store().appendUpload(ID, 0, streamOf("in ", "pieces"))).toBe(9);
    expect(await sizeOf(ID)).toBe(9);
    expect(await blobs()).toEqual([]);
    await reopen();
    expect(await store().appendUpload(ID, await startOf(ID), streamOf(TEXT.slice(await startOf(ID))))).toBe(
      19,
    );
    expect(await store().finishUpload(ID, { expect: WHOLE })).toEqual(WHOLE);
    expect(await textOf(WHOLE)).toBe(TEXT);
    expect(await blobs()).toEqual([WHOLE]);
    expect(await uploads()).toEqual([]);
    expect(await bench.current().leftovers()).toEqual([]);
  });

  /** A test of restarts needs a store that can restart. */
  const startOf = async (id: string) => (await sizeOf(id)) ?? 0;

  it("finishes an upload after a restart when all its bytes came before it", async () => {
    await store().appendUpload(ID, 0, streamOf(TEXT));
    await reopen();
    expect(await store().finishUpload(ID, { expect: WHOLE })).toEqual(WHOLE);
    expect(await textOf(WHOLE)).toBe(TEXT);
  });

  it("returns the size of an upload, and when its last piece came", async () => {
    await store().appendUpload(ID, 0, streamOf("abc"));
    await store().appendUpload(OTHER, 0, streamOf("defgh"));
    const found = (await uploads()).sort((a, b) => a.sizeBytes - b.sizeBytes);
    expect(found).toEqual([
      { id: ID, sizeBytes: 3, touchedMs: expect.any(Number) },
      { id: OTHER, sizeBytes: 5, touchedMs: expect.any(Number) },
    ]);
    for (const { touchedMs } of found) expect(Math.abs(touchedMs - Date.now())).toBeLessThan(60_000);
    expect(await store().findUpload("3".repeat(64))).toBeUndefined();
  });

  it.each([1, 2, 4, 100])("refuses a piece at %i when there are 3 bytes, and names both", async (offset) => {
    await store().appendUpload(ID, 0, streamOf("abc"));
    await expect(store().appendUpload(ID, offset, streamOf("x"))).rejects.toEqual(
      refused("precondition", { reason: "UPLOAD_OFFSET", facts: { offset: "3" } }),
    );
    expect(await sizeOf(ID)).toBe(3);
  });

  it("refuses a first piece that does not begin at 0", async () => {
    await expect(store().appendUpload(ID, 5, streamOf("x"))).rejects.toEqual(
      refused("precondition", { reason: "UPLOAD_OFFSET", facts: { offset: "0" } }),
    );
    expect(await uploads()).toEqual([]);
  });

  it("keeps the bytes received of a piece that fails, and passes the error on", async () => {
    const failure = new Error("the client disconnected");
    await store().appendUpload(ID, 0, streamOf("in "));
    await expect(store().appendUpload(ID, 3, brokenAfter("pieces ", failure))).rejects.toBe(failure);
    expect(await sizeOf(ID)).toBe(10);
    await store().appendUpload(ID, 10, streamOf("and whole"));
    expect(await store().finishUpload(ID, { expect: WHOLE })).toEqual(WHOLE);
    expect(await textOf(WHOLE)).toBe(TEXT);
  });

  it("is not corrupted by a call that hung and continues when another has taken over", async () => {
    const hangs = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    async function* late() {
      yield Buffer.from("in ");
      hangs.resolve();
      await goesOn.promise;
      yield Buffer.from("pieces");
    }
    const hung = store().appendUpload(ID, 0, late());
    const settled = Promise.allSettled([hung]);
    await hangs.promise;
    expect(await store().appendUpload(ID, 3, streamOf("pieces and "))).toBe(14);
    goesOn.resolve();
    await settled;
    expect(await sizeOf(ID)).toBe(14);
    await store().appendUpload(ID, 14, streamOf("whole"));
    expect(await store().finishUpload(ID, { expect: WHOLE, reread: true })).toEqual(WHOLE);
    expect(await textOf(WHOLE)).toBe(TEXT);
  });

  it("accepts an empty piece", async () => {
    expect(await store().appendUpload(ID, 0, streamOf())).toBe(0);
    expect(await store().appendUpload(ID, 0, streamOf(TEXT))).toBe(WHOLE.sizeBytes);
    expect(await store().appendUpload(ID, WHOLE.sizeBytes, streamOf())).toBe(WHOLE.sizeBytes);
    expect(await store().finishUpload(ID, { expect: WHOLE })).toEqual(WHOLE);
  });

  it.each<[string, BlobInfo]>([
    ["another digest", { ...WHOLE, digest: infoOf("other").digest }],
    ["another size", { ...WHOLE, sizeBytes: 18 }],
  ])("drops an upload that has %s than expected, and keeps nothing", async (_, expected) => {
    await store().appendUpload(ID, 0, streamOf(TEXT));
    await expect(store().finishUpload(ID, { expect: expected })).rejects.toEqual(refused("invalid"));
    expect(await uploads()).toEqual([]);
    expect(await blobs()).toEqual([]);
    await expect(store().finishUpload(ID, { expect: WHOLE })).rejects.toEqual(refused("not-found"));
  });

  it("calls beforePlace before the blob can be found, and keeps the upload when that throws", async () => {
    await store().appendUpload(ID, 0, streamOf(TEXT));
    const refusal = new Error("no");
    const refusing = { expect: WHOLE, beforePlace: () => Promise.reject(refusal) };
    await expect(store().finishUpload(ID, refusing)).rejects.toBe(refusal);
    expect(await blobs()).toEqual([]);
    const seen: unknown[] = [];
    const beforePlace = async (blob: BlobInfo) => {
      seen.push(blob, await store().find(blob.digest));
    };
    await store().finishUpload(ID, { expect: WHOLE, beforePlace });
    expect(seen).toEqual([WHOLE, undefined]);
  });

  it("shares one blob with the same content", async () => {
    await store().put(streamOf(TEXT), { sizeBytesMax: 100 });
    await store().appendUpload(ID, 0, streamOf(TEXT));
    await store().finishUpload(ID, { expect: WHOLE });
    expect(await blobs()).toEqual([WHOLE]);
    expect(await textOf(WHOLE)).toBe(TEXT);
  });

  it("drops an upload, and ignores a missing one", async () => {
    await store().appendUpload(ID, 0, streamOf("abc"));
    await store().dropUpload(ID);
    await store().dropUpload(ID);
    expect(await store().findUpload(ID)).toBeUndefined();
    expect(await store().appendUpload(ID, 0, streamOf("x"))).toBe(1);
  });

  it.each([
    "",
    "..",
    "../../etc/passwd",
    `../${"a".repeat(61)}`,
    "A".repeat(64),
    "a".repeat(65),
    "__proto__",
  ])("refuses the id %j wherever one is given", async (id) => {
    await expect(store().findUpload(id)).rejects.toEqual(refused("invalid"));
    await expect(store().appendUpload(id, 0, streamOf("x"))).rejects.toEqual(refused("invalid"));
    await expect(store().finishUpload(id, { expect: WHOLE })).rejects.toEqual(refused("invalid"));
    await expect(store().dropUpload(id)).rejects.toEqual(refused("invalid"));
    expect(await uploads()).toEqual([]);
  });

  it("assembles any content from any pieces, with failures and restarts in between", async () => {
    const piece = fc.record({
      chunks: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }),
      event: fc.constantFrom("continue", "break off", "restart"),
    });
    let number = 0;
    const property = fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const id = createHash("sha256")
        .update(`upload ${(number += 1)}`)
        .digest("hex");
      let bytes = Buffer.alloc(0);
      for (const { chunks, event } of pieces) {
        async function* content() {
          yield* streamOf(...chunks);
          if (event === "break off") throw new Error("broken off");
        }
        await store()
          .appendUpload(id, bytes.length, content())
          .catch((error: Error) => expect(error.message).toBe("broken off"));
        bytes = Buffer.concat([bytes, ...chunks]);
        expect(await sizeOf(id)).toBe(bytes.length);
        if (event === "restart") await reopen();
      }
      if (pieces.length === 0) return;
      const digest = createHash("sha256").update(bytes).digest("hex");
      const expected = { digest, sizeBytes: bytes.length };
      expect(await store().finishUpload(id, { expect: expected })).toEqual(expected);
      const read: Uint8Array[] = [];
      for await (const chunk of (await store().get(digest)).body) read.push(chunk);
      expect(Buffer.concat(read).equals(bytes)).toBe(true);
    });
    await fc.assert(property, { numRuns: 30 });
  });
}
