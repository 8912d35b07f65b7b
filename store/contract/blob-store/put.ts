import { expect, it } from "vitest";

import type { BlobInfo } from "#core/types/blob.ts";

import {
  type BlobStoreUnderTest,
  digestOf,
  EMPTY_DIGEST,
  expectNothingKept,
  listed,
  NO_LIMIT,
  refused,
  streamOf,
  textOf,
} from "../blob-under-test.ts";

/** The part of the contract about content that comes in one stream; see BlobStore in core/ports/blob-store.ts. */
export function putContract(current: () => BlobStoreUnderTest): void {
  const store = () => current().store;
  const putText = (text: string) => store().put(streamOf(text), NO_LIMIT);
  const readText = (digest: string) => textOf(store(), digest);

  it("returns the digest and the size, and keeps the bytes", async () => {
    const info = await store().put(streamOf("hello ", "", "world"), NO_LIMIT);
    expect(info).toEqual({ digest: digestOf("hello world"), sizeBytes: 11 });
    expect(await readText(info.digest)).toBe("hello world");
    expect(await store().find(info.digest)).toEqual(info);
    expect(await current().leftovers()).toEqual([]);
  });

  it("keeps an empty blob", async () => {
    const info = await store().put(streamOf(), NO_LIMIT);
    expect(info).toEqual({ digest: EMPTY_DIGEST, sizeBytes: 0 });
    expect(await readText(info.digest)).toBe("");
  });

  it("keeps one copy of the same content", async () => {
    const first = await store().put(streamOf("same", "ness"), NO_LIMIT);
    const second = await store().put(streamOf("sam", "eness"), NO_LIMIT);
    expect(second).toEqual(first);
    expect(await listed(store())).toEqual([first]);
  });

  it("keeps one copy when the same content is put many times at once", async () => {
    const infos = await Promise.all(Array.from({ length: 20 }, () => putText("crowd")));
    expect(new Set(infos.map((info) => info.digest)).size).toBe(1);
    expect(await listed(store())).toEqual([infos[0]]);
    expect(await readText(infos[0]!.digest)).toBe("crowd");
    expect(await current().leftovers()).toEqual([]);
  });

  it("supports a stream that reuses its buffer", async () => {
    const buffer = Buffer.alloc(4);
    async function* reusing() {
      for (const text of ["abcd", "efgh"]) {
        buffer.write(text);
        yield buffer;
      }
      buffer.fill(0);
    }
    const info = await store().put(reusing(), NO_LIMIT);
    expect(await readText(info.digest)).toBe("abcdefgh");
  });

  it("accepts the announced content", async () => {
    const digest = digestOf("abc");
    const info = await store().put(streamOf("abc"), { sizeBytesMax: 3, expect: { digest, sizeBytes: 3 } });
    expect(info).toEqual({ digest, sizeBytes: 3 });
  });

  it.each([
    ["another digest than announced", { digest: EMPTY_DIGEST }],
    ["more bytes than announced", { sizeBytes: 2 }],
    ["fewer bytes than announced", { sizeBytes: 4 }],
    ["bytes where none were announced", { sizeBytes: 0 }],
    ["the announced digest with another size", { digest: digestOf("abc"), sizeBytes: 4 }],
  ])("refuses %s and keeps nothing", async (_, announced) => {
    await expect(store().put(streamOf("abc"), { ...NO_LIMIT, expect: announced })).rejects.toEqual(
      refused("invalid"),
    );
    await expectNothingKept(current());
  });

  it("does not change a stored blob when a put that announced it sends something else", async () => {
    const info = await putText("good");
    const announced = { ...NO_LIMIT, expect: { digest: info.digest } };
    await expect(store().put(streamOf("evil"), announced)).rejects.toEqual(refused("invalid"));
    expect(await readText(info.digest)).toBe("good");
    expect(await listed(store())).toEqual([info]);
  });

  it("refuses content over the limit, stops reading it, and keeps nothing", async () => {
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
    await expect(store().put(endless(), { sizeBytesMax: 35 })).rejects.toEqual(refused("exhausted"));
    expect(asked).toBe(4);
    expect(returned).toBe(true);
    await expectNothingKept(current());
  });

  it("refuses an announced size over the limit before it reads anything", async () => {
    let asked = false;
    async function* watched() {
      asked = true;
      yield Buffer.alloc(1);
    }
    const options = { sizeBytesMax: 10, expect: { sizeBytes: 11 } };
    await expect(store().put(watched(), options)).rejects.toEqual(refused("exhausted"));
    expect(asked).toBe(false);
    await expectNothingKept(current());
  });

  it("keeps nothing of a stream that fails, and passes its error on", async () => {
    const failure = new Error("the client disconnected");
    async function* broken() {
      yield Buffer.from("half of i");
      throw failure;
    }
    await expect(store().put(broken(), NO_LIMIT)).rejects.toBe(failure);
    await expectNothingKept(current());
  });

  it("calls beforePlace before a blob can be found, and keeps nothing when that throws", async () => {
    const seen: unknown[] = [];
    const beforePlace = async (blob: BlobInfo) => {
      seen.push(blob, await store().find(blob.digest));
    };
    const info = await store().put(streamOf("asked"), { ...NO_LIMIT, beforePlace });
    expect(seen).toEqual([info, undefined]);
    await store().delete(info.digest);

    const refusal = new Error("no");
    const refusing = { ...NO_LIMIT, beforePlace: () => Promise.reject(refusal) };
    await expect(store().put(streamOf("refused"), refusing)).rejects.toBe(refusal);
    await expectNothingKept(current());
  });

  it("does not call beforePlace for content that differs from the announced one", async () => {
    const options = {
      ...NO_LIMIT,
      expect: { digest: EMPTY_DIGEST },
      beforePlace: () => Promise.reject(new Error("asked")),
    };
    await expect(store().put(streamOf("abc"), options)).rejects.toEqual(refused("invalid"));
  });
}
