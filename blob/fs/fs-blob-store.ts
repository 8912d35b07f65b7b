import { createHash } from "node:crypto";
import { join } from "node:path";

import { CairnError, quote } from "#lang/errors.ts";
import {
  BlobIntake,
  checkDigest,
  checkRange,
  isDigest,
  type BlobInfo,
  type PutOptions,
} from "#core/types/blob.ts";
import type { BlobContent, BlobStore } from "#core/ports/blob-store.ts";
import type { FinishOptions, UploadInfo, UploadStore } from "#core/ports/upload-store.ts";

import { type Disk, errnoOf, nodeDisk, type ReadableFile, type WritableFile } from "./disk.ts";
import { failureFrom } from "./failure.ts";
import { copyBlobs, takeBlobs } from "./fs-copies.ts";
import { FsUploads } from "./fs-uploads.ts";
import { FOLDER, openLayout } from "./layout.ts";
import { Root, writeAll } from "./root.ts";

const READ_BYTES = 256 << 10;
const NOTHING = new Uint8Array(0);

/**
 * Opens a directory as a blob store, and makes it one when it is empty. One process at a time: the
 * server holds a lock on its data directory. The remains of interrupted writes are removed here.
 * `onFailure` is called once, when nothing can be stored any more.
 */
export async function openFsBlobStore(
  directory: string,
  disk: Disk = nodeDisk,
  onFailure?: (error: CairnError) => void,
): Promise<BlobStore & UploadStore> {
  try {
    return new FsBlobStore(new Root(disk, await openLayout(disk, directory), onFailure));
  } catch (error) {
    throw failureFrom(`cannot open blob store ${quote(directory)}`, error);
  }
}

/**
 * A blob is written to a file of its own in `incoming`, synced, renamed to its digest, and then the
 * directory is synced: at every moment the store holds a whole blob or none. Content that is there
 * already is written again: that costs a little and repairs a damaged copy.
 *
 * What is not a plain file (a planted link) counts as absent: it is never followed, and a
 * put of its digest replaces it. Reading a whole blob checks its digest before the last piece is
 * handed out and throws `corrupt`; a range is read unchecked.
 */
class FsBlobStore implements BlobStore, UploadStore {
  readonly #root: Root;
  readonly #uploads: FsUploads;
  /** The writes in progress. */
  readonly #writing = new Set<Promise<unknown>>();
  #closed = false;
  readonly copies = {
    copyTo: async (folder: string): Promise<void> => {
      this.#checkOpen();
      this.#root.requireTrusted();
      return this.#whileOpen(copyBlobs(this.#root, this.list(), folder));
    },
    takeFrom: async (folder: string): Promise<void> => {
      this.#checkOpen();
      this.#root.requireTrusted();
      return this.#whileOpen(takeBlobs(this.#root, folder));
    },
  };

  constructor(root: Root) {
    this.#root = root;
    this.#uploads = new FsUploads(root);
  }

  async put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo> {
    this.#checkOpen();
    this.#root.requireTrusted();
    return this.#whileOpen(this.#put(content, options));
  }

  async #put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo> {
    const intake = new BlobIntake(options);
    const { disk, layout } = this.#root;
    const incoming = layout.newIncoming();
    const file = await this.#root.try("cannot write blob", () => disk.create(incoming));
    try {
      const info = await this.#receive(content, intake, file);
      await this.#root.place(incoming, info, options.beforePlace);
      return info;
    } catch (error) {
      // A file that cannot be removed either is not of the store, and the next opening removes it.
      await disk.unlink(incoming).catch(() => {});
      throw error;
    }
  }

  async #receive(
    content: AsyncIterable<Uint8Array>,
    intake: BlobIntake,
    file: WritableFile,
  ): Promise<BlobInfo> {
    const task = "cannot write blob";
    let info: BlobInfo;
    try {
      for await (const chunk of content) {
        intake.admit(chunk);
        // The disk works while the digest is computed.
        const writing = this.#root.try(task, () => writeAll(file, chunk));
        intake.measure(chunk);
        await writing;
      }
      info = intake.finish();
      await this.#root.sync(task, () => file.sync());
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    await this.#root.try(task, () => file.close());
    return info;
  }

  async get(digest: string, range?: { start: number; end: number }): Promise<BlobContent> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot read blob ${quote(digest)}`;
    if (!(await this.#root.hasFolder(task, this.#root.layout.folderOf(digest)))) throw notFound(digest);
    const file = await this.#openFile(task, digest);
    try {
      const entry = await this.#root.try(task, () => file.stat());
      if (entry.kind !== "file") throw notFound(digest);
      const info = { digest, sizeBytes: entry.sizeBytes };
      if (range !== undefined) checkRange(range, info);
      const body = this.#body(task, file, info, range ?? { start: 0, end: info.sizeBytes });
      // Takes the generator into its try block, so that returning it unread closes the file.
      await body.next();
      return { ...info, body };
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
  }

  async #openFile(task: string, digest: string): Promise<ReadableFile> {
    const { disk, layout } = this.#root;
    try {
      return await disk.openForReading(layout.fileOf(digest));
    } catch (error) {
      // ELOOP is a symbolic link, ENXIO a socket: nothing of ours.
      if (["ENOENT", "ELOOP", "ENXIO"].includes(errnoOf(error) ?? "")) throw notFound(digest);
      throw failureFrom(task, error);
    }
  }

  async *#body(
    task: string,
    file: ReadableFile,
    info: BlobInfo,
    range: { start: number; end: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield NOTHING;
      const hash = createHash("sha256");
      const whole = range.start === 0 && range.end === info.sizeBytes;
      const damaged = () => whole && hash.digest("hex") !== info.digest;
      let position = range.start;
      if (position === range.end && damaged()) throw corrupt(info.digest);
      while (position < range.end) {
        const target = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, range.end - position));
        const at = position;
        const read = await this.#root.try(task, () => file.read(target, at));
        if (read === 0) throw corrupt(info.digest);
        position += read;
        const chunk = target.subarray(0, read);
        if (whole) hash.update(chunk);
        if (position === range.end && damaged()) throw corrupt(info.digest);
        yield chunk;
      }
    } finally {
      await this.#root.try(task, () => file.close());
    }
  }

  async find(digest: string): Promise<BlobInfo | undefined> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot find blob ${quote(digest)}`;
    const { disk, layout } = this.#root;
    if (!(await this.#root.hasFolder(task, layout.folderOf(digest)))) return undefined;
    const entry = await this.#root.try(task, () => disk.find(layout.fileOf(digest)));
    return entry?.kind === "file" ? { digest, sizeBytes: entry.sizeBytes } : undefined;
  }

  async delete(digest: string): Promise<void> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot delete blob ${quote(digest)}`;
    const { disk, layout } = this.#root;
    const folder = layout.folderOf(digest);
    if (!(await this.#root.hasFolder(task, folder))) return;
    try {
      await disk.unlink(layout.fileOf(digest));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      throw failureFrom(task, error);
    }
    await this.#root.sync(task, () => disk.syncDirectory(folder));
  }

  async *list(options: { putBeforeMs?: number } = {}): AsyncGenerator<BlobInfo, void, undefined> {
    this.#checkOpen();
    const task = "cannot list blobs";
    const { disk, layout } = this.#root;
    const beforeMs = options.putBeforeMs ?? Number.POSITIVE_INFINITY;
    try {
      for await (const { name: folder } of disk.list(layout.root)) {
        if (!FOLDER.test(folder)) continue;
        const path = join(layout.root, folder);
        if (!(await this.#root.hasFolder(task, path))) continue;
        for await (const { name } of disk.list(path)) {
          if (!isDigest(name) || !name.startsWith(folder)) continue;
          const entry = await disk.find(layout.fileOf(name));
          if (entry?.kind !== "file" || entry.modifiedMs >= beforeMs) continue;
          yield { digest: name, sizeBytes: entry.sizeBytes };
        }
      }
    } catch (error) {
      throw failureFrom(task, error);
    }
  }

  async *listUploads(): AsyncGenerator<UploadInfo, void, undefined> {
    this.#checkOpen();
    try {
      yield* this.#uploads.list();
    } catch (error) {
      throw failureFrom("cannot list uploads", error);
    }
  }

  async findUpload(id: string): Promise<UploadInfo | undefined> {
    this.#checkOpen();
    return this.#uploads.find(id);
  }

  async appendUpload(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    this.#checkOpen();
    return this.#whileOpen(this.#uploads.append(id, offset, content));
  }

  async finishUpload(id: string, options: FinishOptions): Promise<BlobInfo> {
    this.#checkOpen();
    return this.#whileOpen(this.#uploads.finish(id, options));
  }

  async dropUpload(id: string): Promise<void> {
    this.#checkOpen();
    return this.#uploads.drop(id);
  }

  /** Waits for what is being written; readers own their files. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#writing);
  }

  async #whileOpen<T>(work: Promise<T>): Promise<T> {
    this.#writing.add(work);
    try {
      return await work;
    } finally {
      this.#writing.delete(work);
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new CairnError("unavailable", "cannot use blob store: it is closed");
  }
}

function notFound(digest: string): CairnError {
  return new CairnError("not-found", `cannot read blob ${quote(digest)}: it is not stored`);
}

function corrupt(digest: string): CairnError {
  return new CairnError("corrupt", `cannot read blob ${quote(digest)}: what is stored has another digest`, {
    hint: "upload the same content again to repair it",
  });
}
