import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OWNER, type Caller } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { BlobsUnderTest } from "#store/contract/blob-under-test.ts";
import { AUDIT, refused } from "#store/contract/stores.ts";
import { sha256 } from "../testing/artifact-client.ts";
import {
  byId,
  head,
  openArtifactCore,
  READER,
  streamOf,
  textOf,
  WRITER,
  type ArtifactCore,
} from "../testing/artifact-core.ts";

const HOUR_US = 3_600_000_000;
const MAINTAINER: Caller = { ...OWNER, permission: "maintain" };

let on: ArtifactCore;
afterEach(() => on.discard());

const put = (run: string, name: string, content: string) =>
  on.artifacts.uploads.put(WRITER, byId(run), head(name), streamOf(content));
/** With the versions that are kept of it. */
const remove = async (run: string, name: string) => {
  const deleted = await on.artifacts.delete(WRITER, { run: byId(run), name, step: undefined });
  await forget(run, name);
  return deleted;
};
const forget = (run: string, name = "") => on.artifacts.replaced.purge(MAINTAINER, { run: byId(run), name });
const read = async (run: string, name: string) =>
  textOf((await on.artifacts.open(READER, { run: byId(run), name, step: undefined })).body);
const purge = async (run: string) => {
  await on.core.runs.delete(WRITER, byId(run));
  await on.core.runs.purge(WRITER, byId(run));
};

describe("content that artifacts share", () => {
  beforeEach(async () => {
    on = await openArtifactCore();
  });

  it("F4 is stored once and destroyed with the last artifact or version that has it", async () => {
    const [run, other] = [await on.newRun(), await on.newRun("elsewhere")];
    await put(run, "a", "shared");
    await put(run, "b", "shared");
    await put(other, "c", "shared");
    expect(await on.digests()).toEqual([sha256("shared")]);
    await remove(run, "a");
    await put(run, "b", "replaced");
    expect(await read(other, "c")).toBe("shared");
    await remove(other, "c");
    expect(await on.digests()).toEqual([sha256("replaced"), sha256("shared")].toSorted());
    await forget(run, "b");
    expect(await on.digests()).toEqual([sha256("replaced")]);
    await on.artifacts.record(WRITER, byId(run), {
      ...head("b"),
      uri: "s3://x",
      content: undefined,
      sha256: undefined,
      sizeBytes: undefined,
    });
    await forget(run);
    expect(await on.digests()).toEqual([]);
  });

  it("F4 F14 is destroyed when the run is purged", async () => {
    const [run, other] = [await on.newRun(), await on.newRun()];
    await put(run, "a", "mine");
    await put(run, "b", "shared");
    await put(other, "b", "shared");
    await purge(run);
    await on.artifacts.sweep.collect();
    expect(await on.digests()).toEqual([sha256("shared")]);
    expect(await read(other, "b")).toBe("shared");
  });

  it("F4 stays until its last reader is done, and is then destroyed", async () => {
    const run = await on.newRun();
    await put(run, "a", "long story");
    const { body } = await on.artifacts.open(READER, { run: byId(run), name: "a", step: undefined });
    await remove(run, "a");
    expect(await textOf(body)).toBe("long story");
    expect(await on.digests()).toEqual([]);
  });

  it("F4 is found and destroyed when a crash left it without an artifact, once it is an hour old", async () => {
    const run = await on.newRun();
    await put(run, "a", "used");
    await on.blobs.put(streamOf("orphan"), { sizeBytesMax: 100 });
    await on.tidy();
    expect(await on.digests()).toHaveLength(2);
    on.core.clock.us += HOUR_US - 60_000_000;
    expect(await on.artifacts.sweep.sweepOrphans()).toBe(0);
    on.core.clock.us += 120_000_000;
    expect(await on.artifacts.sweep.sweepOrphans()).toBe(1);
    expect(await on.digests()).toEqual([sha256("used")]);
    expect(await read(run, "a")).toBe("used");
  });

  it("F4 is swept in steps, however much there is", async () => {
    const run = await on.newRun();
    for (let i = 0; i < 250; i++) await on.blobs.put(streamOf(`orphan ${i}`), { sizeBytesMax: 100 });
    await put(run, "a", "used");
    on.core.clock.us += 2 * HOUR_US;
    expect(await on.artifacts.sweep.sweepOrphans()).toBe(250);
    expect(await on.digests()).toEqual([sha256("used")]);
  });

  it("F3 F14 is not stored when the run is purged during the upload", async () => {
    const run = await on.newRun();
    async function* slow() {
      yield Buffer.from("too ");
      await purge(run);
      yield Buffer.from("late");
    }
    const putting = on.artifacts.uploads.put(WRITER, byId(run), head("a"), slow());
    await expect(putting).rejects.toEqual(refused("not-found"));
    expect(await on.digests()).toEqual([]);
  });

  it("F15 is not destroyed while a backup is made", async () => {
    const run = await on.newRun();
    await put(run, "a", "needed");
    await on.artifacts.content.kept(async () => {
      await remove(run, "a");
      on.core.clock.us += 2 * HOUR_US;
      await on.tidy();
      expect(await on.digests()).toEqual([sha256("needed")]);
    });
    await on.artifacts.sweep.collect();
    expect(await on.digests()).toEqual([]);
  });

  it("F4 is destroyed later when it cannot be destroyed now, and the delete still succeeds", async () => {
    await on.discard();
    let broken = true;
    on = await openArtifactCore((blobs) => ({
      ...through(blobs),
      delete: (digest) =>
        broken ? Promise.reject(new CairnError("unavailable", "cannot delete")) : blobs.delete(digest),
    }));
    const run = await on.newRun();
    await put(run, "a", "stubborn");
    expect(await remove(run, "a")).toBe(1);
    expect(on.failures).toEqual([refused("unavailable")]);
    broken = false;
    await on.artifacts.sweep.collect();
    expect(await on.digests()).toEqual([]);
  });

  it("F4 that is being destroyed is stored again when it is uploaded at that moment", async () => {
    await on.discard();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    on = await openArtifactCore((blobs) => ({
      ...through(blobs),
      delete: async (digest) => {
        reached.resolve();
        await gate.promise;
        await blobs.delete(digest);
      },
    }));
    const run = await on.newRun();
    await put(run, "a", "phoenix");
    const removing = remove(run, "a");
    await reached.promise;
    const putting = put(run, "b", "phoenix");
    // It has everything but the final name, for which it waits.
    for (let i = 0; i < 20; i++) await on.under.blobLedger.listUnusedBlobs(1);
    gate.resolve();
    await Promise.all([removing, putting]);
    expect(await read(run, "b")).toBe("phoenix");
  });

  it("F2 that is missing is reported", async () => {
    const run = await on.newRun();
    await put(run, "a", "lost");
    await on.blobs.delete(sha256("lost"));
    await expect(read(run, "a")).rejects.toEqual(refused("corrupt"));
    expect(await on.artifacts.content.verify()).toEqual([
      `run ${run}: the content of artifact "a" is missing or damaged`,
    ]);
  });
});

/** The store, method by method, so that some can be replaced. */
function through(blobs: BlobsUnderTest): BlobsUnderTest {
  return {
    put: (...args) => blobs.put(...args),
    get: (...args) => blobs.get(...args),
    find: (...args) => blobs.find(...args),
    delete: (...args) => blobs.delete(...args),
    list: (...args) => blobs.list(...args),
    listUploads: () => blobs.listUploads(),
    findUpload: (...args) => blobs.findUpload(...args),
    appendUpload: (...args) => blobs.appendUpload(...args),
    finishUpload: (...args) => blobs.finishUpload(...args),
    dropUpload: (...args) => blobs.dropUpload(...args),
    close: () => blobs.close(),
  };
}

describe("many at once", () => {
  it("F4 no artifact loses its content, and nothing is left over, with concurrent puts and deletes of the same", async () => {
    // Every step of the blob store takes about as long as some calls of the other store, at random, so that the steps
    // of concurrent calls interleave.
    let random = () => 0;
    const turns = async () => {
      for (let n = random(); n > 0; n--) await on.under.blobLedger.listUnusedBlobs(1);
    };
    on = await openArtifactCore((blobs) => ({
      ...through(blobs),
      put: async (content, options) => {
        const info = await blobs.put(content, {
          ...options,
          beforePlace: async (blob) => {
            await turns();
            await options.beforePlace?.(blob);
            await turns();
          },
        });
        await turns();
        return info;
      },
      delete: async (digest) => {
        await turns();
        await blobs.delete(digest);
        await turns();
      },
    }));
    const action = fc.record({
      do: fc.constantFrom("put", "put", "put", "delete", "delete", "sweep"),
      name: fc.constantFrom("a", "b", "c"),
      content: fc.constantFrom("x", "y"),
    });
    const property = fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 5, maxLength: 12 }), { minLength: 3, maxLength: 5 }),
      fc.infiniteStream(fc.noBias(fc.nat(5))),
      async (actors, numbers) => {
        random = () => numbers.next().value;
        // Old enough to be swept from the first moment on.
        on.core.clock.us += 3 * HOUR_US;
        const run = await on.newRun();
        await Promise.all(
          actors.map(async (actions) => {
            for (const { do: what, name, content } of actions) {
              if (what === "put") await put(run, name, content);
              else if (what === "delete") await remove(run, name).catch(() => undefined);
              else await on.artifacts.sweep.sweepOrphans();
            }
          }),
        );
        const used = new Set<string>();
        for (const name of ["a", "b", "c"]) {
          const found = await on.under.artifacts.findArtifact(run, name, undefined);
          if (found === undefined) continue;
          expect(["x", "y"]).toContain(await read(run, name));
          used.add(found.sha256!);
        }
        await forget(run);
        await on.artifacts.sweep.collect();
        expect(await on.digests()).toEqual([...used].toSorted());
        await purge(run);
        await on.artifacts.sweep.collect();
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

describe("uploads in pieces", () => {
  beforeEach(async () => {
    on = await openArtifactCore();
  });

  const piece = (
    run: string,
    name: string,
    content: string,
    part: [start: number, text: string] | undefined,
    caller = WRITER,
  ) =>
    on.artifacts.uploads.putPiece(caller, byId(run), head(name), {
      digest: sha256(content),
      totalBytes: Buffer.byteLength(content),
      piece: part && { start: part[0], sizeBytes: part[1].length, content: streamOf(part[1]) },
    });
  const uploads = async () => {
    let count = 0;
    for await (const upload of on.blobs.listUploads()) count += upload.id.length === 64 ? 1 : 0;
    return count;
  };

  it("F5 F6 belong to the principal that began them", async () => {
    const run = await on.newRun();
    const ada = await on.user("ada", { role: "writer", namespace: "lab" });
    const bob = await on.user("bob", { role: "writer", namespace: "lab" });
    await piece(run, "f", "secret", [0, "sec"], ada("write"));
    expect(await piece(run, "f", "secret", undefined, bob("write"))).toEqual({ done: false, offset: 0 });
    await expect(piece(run, "f", "secret", [3, "ret"], bob("write"))).rejects.toEqual(
      refused("precondition", "UPLOAD_OFFSET"),
    );
    expect(await piece(run, "f", "secret", undefined, ada("write"))).toEqual({ done: false, offset: 3 });
  });

  it("F7 are dropped a day after their last piece", async () => {
    const run = await on.newRun();
    await piece(run, "old", "0123456789", [0, "01"]);
    await piece(run, "kept", "0123456789", [0, "01"]);
    on.core.clock.us += 23 * HOUR_US;
    await piece(run, "kept", "0123456789", [2, "23"]);
    await on.tidy();
    expect(await uploads()).toBe(2);
    on.core.clock.us += 2 * HOUR_US;
    await on.tidy();
    expect(await uploads()).toBe(1);
    expect(await piece(run, "old", "0123456789", undefined)).toEqual({ done: false, offset: 0 });
    expect(await piece(run, "kept", "0123456789", undefined)).toEqual({ done: false, offset: 4 });
  });

  it("F7 are limited for one principal, and others continue", async () => {
    const run = await on.newRun();
    for (let i = 0; i < limits.uploadsPerPrincipalMax; i++) await piece(run, `f${i}`, "ab", [0, "a"]);
    await expect(piece(run, "one more", "ab", [0, "a"])).rejects.toEqual(
      refused("exhausted", "TOO_MANY_UPLOADS", { retryAfterMs: expect.any(Number) }),
    );
    expect(await piece(run, "one more", "ab", undefined)).toEqual({ done: false, offset: 0 });
    const bob = await on.user("bob", { role: "writer", namespace: "lab" });
    expect(await piece(run, "his", "ab", [0, "a"], bob("write"))).toEqual({ done: false, offset: 1 });
    expect(await piece(run, "f0", "ab", [1, "b"])).toMatchObject({ done: true });
    expect(await piece(run, "one more", "ab", [0, "a"])).toEqual({ done: false, offset: 1 });
  });

  it("F6 are not lost when their artifact cannot be made at once", async () => {
    await on.discard();
    let full = true;
    on = await openArtifactCore((blobs) => ({
      ...through(blobs),
      finishUpload: async (id, options) => {
        if (full) throw new CairnError("unavailable", "cannot place", { reason: "DISK_FULL" });
        return blobs.finishUpload(id, options);
      },
    }));
    const run = await on.newRun();
    await expect(piece(run, "f", "whole", [0, "whole"])).rejects.toEqual(refused("unavailable", "DISK_FULL"));
    full = false;
    expect(await piece(run, "f", "whole", undefined)).toMatchObject({ done: true });
    expect(await read(run, "f")).toBe("whole");
  });

  it("F14 are dropped when the run is purged", async () => {
    const run = await on.newRun();
    await piece(run, "f", "whole", [0, "who"]);
    await on.under.runs.setDeleted(run, 1, AUDIT);
    await on.under.runs.purgeRun(run, AUDIT);
    await expect(piece(run, "f", "whole", [3, "le"])).rejects.toEqual(refused("not-found"));
    expect(await on.digests()).toEqual([]);
  });
});
