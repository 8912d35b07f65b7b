import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ErrorCode } from "#lang/errors.ts";
import type { BlobStore } from "#core/ports/blob-store.ts";
import type { UploadStore } from "#core/ports/upload-store.ts";
import { blobStoreContract } from "#store/contract/blob-store/blob-store.ts";
import type { BlobStoreUnderTest } from "#store/contract/blob-under-test.ts";

import { type Disk, nodeDisk } from "./disk.ts";
import { openFsBlobStore } from "./fs-blob-store.ts";

const run = promisify(execFile);
const NO_LIMIT = { sizeBytesMax: Number.MAX_SAFE_INTEGER };

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function listed(store: BlobStore): Promise<string[]> {
  const digests: string[] = [];
  for await (const { digest } of store.list()) digests.push(digest);
  return digests;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function refused(code: ErrorCode) {
  return expect.objectContaining({ name: "CairnError", code });
}

async function openIn(directory: string): Promise<BlobStoreUnderTest> {
  const store = await openFsBlobStore(directory);
  return {
    store,
    leftovers: () => readdir(join(directory, "incoming")),
    reopen: async () => {
      await store.close();
      return openIn(directory);
    },
    discard: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}

blobStoreContract("fs", async () => openIn(await mkdtemp(join(tmpdir(), "cairn-blob-"))), {
  flatMemory: true,
  copies: true,
});

describe("fs", () => {
  let directory: string;
  let store: BlobStore & UploadStore;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-blob-"));
    store = await openFsBlobStore(join(directory, "blobs"));
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  const root = () => join(directory, "blobs");
  const fileOf = (digest: string) => join(root(), digest.slice(0, 2), digest);
  const reopen = async () => {
    await store.close();
    store = await openFsBlobStore(root());
  };

  it("keeps blobs over a restart, in files named after their digest", async () => {
    const { digest } = await store.put(streamOf("lasting"), NO_LIMIT);
    await reopen();
    expect(await textOf((await store.get(digest)).body)).toBe("lasting");
    expect(await readFile(fileOf(digest), "utf8")).toBe("lasting");
  });

  it("makes directories above it as well", async () => {
    const deep = await openFsBlobStore(join(directory, "a", "b", "c"));
    await deep.put(streamOf("x"), NO_LIMIT);
    await deep.close();
    expect(await readFile(join(directory, "a", "b", "c", "format"), "utf8")).toBe("cairn-blobs 1\n");
  });

  it("may be reached through a link its owner made", async () => {
    await symlink(root(), join(directory, "link"));
    const linked = await openFsBlobStore(join(directory, "link"));
    const { digest } = await linked.put(streamOf("via link"), NO_LIMIT);
    await linked.close();
    expect(await store.find(digest)).toEqual({ digest, sizeBytes: 8 });
  });

  it("removes the remains of interrupted writes", async () => {
    await writeFile(join(root(), "incoming", "stale"), "half a blob");
    await symlink("/etc/passwd", join(root(), "incoming", "planted"));
    await reopen();
    expect(await readdir(join(root(), "incoming"))).toEqual([]);
    expect(await listed(store)).toEqual([]);
  });

  describe("format", () => {
    it("refuses a newer one and says so", async () => {
      await writeFile(join(root(), "format"), "cairn-blobs 2\n");
      await expect(openFsBlobStore(root())).rejects.toMatchObject({
        code: "precondition",
        reason: "FORMAT_NEWER",
        message: expect.stringContaining("its format 2 is newer than 1"),
        hint: expect.any(String),
      });
    });

    it.each(["", "cairn-blobs", "cairn-blobs 0\n", "cairn-blobs 1", "parquet 1\n"])(
      "refuses the text %j",
      async (text) => {
        await writeFile(join(root(), "format"), text);
        await expect(openFsBlobStore(root())).rejects.toEqual(refused("corrupt"));
      },
    );

    it("refuses a link in its place", async () => {
      await rm(join(root(), "format"));
      await writeFile(join(directory, "elsewhere"), "cairn-blobs 1\n");
      await symlink(join(directory, "elsewhere"), join(root(), "format"));
      await expect(openFsBlobStore(root())).rejects.toEqual(refused("precondition"));
    });

    it("refuses a directory with other things in it and leaves them alone", async () => {
      await mkdir(join(directory, "home"));
      await writeFile(join(directory, "home", "thesis.tex"), "years of work");
      await expect(openFsBlobStore(join(directory, "home"))).rejects.toEqual(refused("precondition"));
      expect(await readdir(join(directory, "home"))).toEqual(["thesis.tex"]);
    });

    it("continues where the first start was interrupted", async () => {
      await mkdir(join(directory, "begun"));
      await writeFile(join(directory, "begun", "format.new"), "cairn-bl");
      await (await openFsBlobStore(join(directory, "begun"))).close();
      expect((await readdir(join(directory, "begun"))).sort()).toEqual(["format", "incoming", "uploads"]);
    });

    it("refuses a file in place of the directory", async () => {
      await writeFile(join(directory, "file"), "");
      await expect(openFsBlobStore(join(directory, "file"))).rejects.toMatchObject({ name: "CairnError" });
    });
  });

  describe("planted entry", () => {
    const digest = digestOf("the real thing");
    let secret: string;

    beforeEach(async () => {
      secret = join(directory, "secret");
      await writeFile(secret, "do not tell");
      await mkdir(join(root(), digest.slice(0, 2)));
    });

    it("is not followed when it is a link to a file, and a put replaces it", async () => {
      await symlink(secret, fileOf(digest));
      await expect(store.get(digest)).rejects.toEqual(refused("not-found"));
      expect(await store.find(digest)).toBeUndefined();
      expect(await listed(store)).toEqual([]);

      await store.put(streamOf("the real thing"), NO_LIMIT);
      expect(await textOf((await store.get(digest)).body)).toBe("the real thing");
      expect(await readFile(secret, "utf8")).toBe("do not tell");
    });

    it("is removed without touching what it points at", async () => {
      await symlink(secret, fileOf(digest));
      await store.delete(digest);
      expect(await readdir(join(root(), digest.slice(0, 2)))).toEqual([]);
      expect(await readFile(secret, "utf8")).toBe("do not tell");
    });

    it("is not followed when it is a link in place of a directory", async () => {
      const outside = join(directory, "outside");
      await mkdir(outside);
      await writeFile(join(outside, digest), "the real thing");
      await rm(join(root(), digest.slice(0, 2)), { recursive: true });
      await symlink(outside, join(root(), digest.slice(0, 2)));

      await expect(store.get(digest)).rejects.toEqual(refused("unavailable"));
      await expect(store.find(digest)).rejects.toEqual(refused("unavailable"));
      await expect(store.delete(digest)).rejects.toEqual(refused("unavailable"));
      await expect(listed(store)).rejects.toEqual(refused("unavailable"));
      await expect(store.put(streamOf("the real thing"), NO_LIMIT)).rejects.toEqual(refused("unavailable"));
      expect(await readdir(outside)).toEqual([digest]);
      expect(await readdir(join(root(), "incoming"))).toEqual([]);
    });

    it("is not followed when it replaces the directory for writing", async () => {
      const outside = join(directory, "outside");
      await mkdir(outside);
      await writeFile(join(outside, "precious"), "");
      await rm(join(root(), "incoming"), { recursive: true });
      await symlink(outside, join(root(), "incoming"));
      await expect(openFsBlobStore(root())).rejects.toEqual(refused("precondition"));
      expect(await readdir(outside)).toEqual(["precious"]);
    });

    it("is not followed when it replaces an upload or their directory", async () => {
      const id = digestOf("an upload");
      await symlink(secret, join(root(), "uploads", id));
      expect(await store.findUpload(id)).toBeUndefined();
      await expect(store.appendUpload(id, 0, streamOf("x"))).rejects.toEqual(refused("unavailable"));
      await store.dropUpload(id);

      const outside = join(directory, "outside");
      await mkdir(outside);
      await rm(join(root(), "uploads"), { recursive: true });
      await symlink(outside, join(root(), "uploads"));
      await expect(store.appendUpload(id, 0, streamOf("x"))).rejects.toEqual(refused("unavailable"));
      await expect(openFsBlobStore(root())).rejects.toEqual(refused("precondition"));
      expect(await readdir(outside)).toEqual([]);
      expect(await readFile(secret, "utf8")).toBe("do not tell");
    });

    it("is not a blob when it is a directory or a pipe", async () => {
      await mkdir(fileOf(digest));
      await expect(store.get(digest)).rejects.toEqual(refused("not-found"));
      expect(await store.find(digest)).toBeUndefined();
      await rm(fileOf(digest), { recursive: true });

      await run("mkfifo", [fileOf(digest)]);
      await expect(store.get(digest)).rejects.toEqual(refused("not-found"));
      expect(await store.find(digest)).toBeUndefined();
      expect(await listed(store)).toEqual([]);
    });

    it("is not a blob when its name is not a digest of that directory", async () => {
      await writeFile(join(root(), digest.slice(0, 2), "notes.txt"), "");
      await mkdir(join(root(), "00"), { recursive: true });
      await writeFile(join(root(), "00", digest), "");
      expect(await listed(store)).toEqual([]);
    });
  });

  describe("damage", () => {
    const text = "x".repeat(1 << 20);

    it.each([
      ["flipped", (file: string) => writeFile(file, `${text.slice(1)}y`)],
      ["cut", (file: string) => truncate(file, 1000)],
      ["emptied", (file: string) => truncate(file, 0)],
      ["zeroed", (file: string) => writeFile(file, Buffer.alloc(text.length))],
      ["longer", (file: string) => writeFile(file, `${text}!`)],
    ])("is noticed before a reader has all of a blob that was %s", async (_, damage) => {
      const { digest } = await store.put(streamOf(text), NO_LIMIT);
      await damage(fileOf(digest));
      const { body, sizeBytes } = await store.get(digest);
      let read = 0;
      const reading = (async () => {
        for await (const chunk of body) read += chunk.byteLength;
      })();
      await expect(reading).rejects.toEqual(refused("corrupt"));
      expect(read).toBeLessThanOrEqual(Math.max(0, sizeBytes - 1));
    });

    it("is repaired by the same content", async () => {
      const { digest } = await store.put(streamOf(text), NO_LIMIT);
      await writeFile(fileOf(digest), "nonsense");
      await store.put(streamOf(text), NO_LIMIT);
      expect(await textOf((await store.get(digest)).body)).toBe(text);
    });

    it("is noticed when a file shrinks under a reader of a range", async () => {
      const { digest } = await store.put(streamOf(text), NO_LIMIT);
      const { body } = await store.get(digest, { start: 1, end: text.length });
      await truncate(fileOf(digest), 10);
      await expect(textOf(body)).rejects.toEqual(refused("corrupt"));
    });
  });

  it("waits at close for puts under way", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from("slow but ");
      await gate;
      yield Buffer.from("steady");
    }
    const putting = store.put(slow(), NO_LIMIT);
    const closing = store.close();
    open();
    const { digest } = await putting;
    await closing;
    expect(await readFile(fileOf(digest), "utf8")).toBe("slow but steady");
  });

  it("copies into a folder into which another process copies the same", async () => {
    const place = join(directory, "racing");
    // The other one is faster with every blob.
    const link: Disk["link"] = async (from, to) => {
      await nodeDisk.link(from, to);
      await nodeDisk.link(from, to);
    };
    const racing = await openFsBlobStore(place, { ...nodeDisk, link });
    const { digest } = await racing.put(streamOf("both"), NO_LIMIT);
    await racing.copies!.copyTo(join(directory, "copy"));
    expect(await readFile(join(directory, "copy", digest.slice(0, 2), digest), "utf8")).toBe("both");
    await racing.close();
  });
});
