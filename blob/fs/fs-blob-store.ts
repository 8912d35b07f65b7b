import { createHash } from "node:crypto";
import { join } from "node:path";

import { CairnError, quote } from "#core/errors.ts";
import { BlobIntake, checkDigest, checkRange, isDigest } from "#core/model/blob.ts";
import type { BlobContent, BlobInfo, BlobStore, PutOptions } from "#core/ports/blob-store.ts";

import { type Disk, errnoOf, nodeDisk, type ReadableFile, type WritableFile } from "./disk.ts";
import { failureFrom, isFull } from "./failure.ts";
import { FOLDER, type Layout, openLayout } from "./layout.ts";

const READ_BYTES = 256 << 10;
const NOTHING = new Uint8Array(0);

/**
 * Opens a directory as a blob store, and makes it one when it is empty. One process at a time: the
 * server holds a lock on its data directory. What broken-off writes left behind is removed here.
 */
export async function openFsBlobStore(directory: string, disk: Disk = nodeDisk): Promise<BlobStore> {
  try {
    return new FsBlobStore(disk, await openLayout(disk, directory));
  } catch (error) {
    throw failureFrom(`cannot open blob store ${quote(directory)}`, error, directory);
  }
}

/**
 * A blob is written to a file of its own in `incoming`, synced, renamed to its digest, and then the
 * directory is synced: at every moment the store holds a whole blob or none. Content that is there
 * already is written again all the same: that costs a little and repairs a damaged copy.
 *
 * What is not a plain file (a link somebody planted) counts as absent: it is never followed, and a
 * put of its digest replaces it. Reading a whole blob checks its digest before the last piece is
 * handed out and throws `corrupt`; a range is read unchecked.
 */
class FsBlobStore implements BlobStore {
  readonly #disk: Disk;
  readonly #layout: Layout;
  readonly #puts = new Set<Promise<BlobInfo>>();
  /** Directories of which the disk is known to know. */
  readonly #lastingFolders = new Set<string>();
  #closed = false;
  #syncFailed = false;

  constructor(disk: Disk, layout: Layout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  async put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo> {
    this.#checkOpen();
    if (this.#syncFailed) throw this.#distrusted();
    const putting = this.#put(content, options);
    this.#puts.add(putting);
    try {
      return await putting;
    } finally {
      this.#puts.delete(putting);
    }
  }

  async #put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo> {
    const intake = new BlobIntake(options);
    const incoming = this.#layout.newIncoming();
    const file = await this.#try("cannot write blob", () => this.#disk.create(incoming));
    try {
      const info = await this.#receive(content, intake, file);
      await this.#place(incoming, info.digest);
      return info;
    } catch (error) {
      // A file that cannot be removed either is not of the store, and the next opening removes it.
      await this.#disk.unlink(incoming).catch(() => {});
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
        intake.add(chunk);
        await this.#try(task, () => writeAll(file, chunk));
      }
      info = intake.finish();
      await this.#sync(task, () => file.sync());
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    await this.#try(task, () => file.close());
    return info;
  }

  async #place(incoming: string, digest: string): Promise<void> {
    const task = `cannot write blob ${quote(digest)}`;
    const folder = this.#layout.folderOf(digest);
    await this.#ensureFolder(task, folder);
    await this.#try(task, () => this.#disk.rename(incoming, this.#layout.fileOf(digest)));
    await this.#sync(task, () => this.#disk.syncDirectory(folder));
  }

  async #ensureFolder(task: string, folder: string): Promise<void> {
    if (!(await this.#hasFolder(task, folder))) {
      this.#lastingFolders.delete(folder);
      await this.#try(task, () => this.#disk.makeDirectory(folder));
    }
    if (this.#lastingFolders.has(folder)) return;
    await this.#sync(task, () => this.#disk.syncDirectory(this.#layout.root));
    this.#lastingFolders.add(folder);
  }

  async get(digest: string, range?: { start: number; end: number }): Promise<BlobContent> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot read blob ${quote(digest)}`;
    if (!(await this.#hasFolder(task, this.#layout.folderOf(digest)))) throw notFound(digest);
    const file = await this.#openFile(task, digest);
    try {
      const entry = await this.#try(task, () => file.stat());
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
    try {
      return await this.#disk.openForReading(this.#layout.fileOf(digest));
    } catch (error) {
      // ELOOP is a symbolic link, ENXIO a socket: nothing of ours.
      if (["ENOENT", "ELOOP", "ENXIO"].includes(errnoOf(error) ?? "")) throw notFound(digest);
      throw failureFrom(task, error, this.#layout.root);
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
        const read = await this.#try(task, () => file.read(target, at));
        if (read === 0) throw corrupt(info.digest);
        position += read;
        const chunk = target.subarray(0, read);
        if (whole) hash.update(chunk);
        if (position === range.end && damaged()) throw corrupt(info.digest);
        yield chunk;
      }
    } finally {
      await this.#try(task, () => file.close());
    }
  }

  async find(digest: string): Promise<BlobInfo | undefined> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot find blob ${quote(digest)}`;
    if (!(await this.#hasFolder(task, this.#layout.folderOf(digest)))) return undefined;
    const entry = await this.#try(task, () => this.#disk.find(this.#layout.fileOf(digest)));
    return entry?.kind === "file" ? { digest, sizeBytes: entry.sizeBytes } : undefined;
  }

  async delete(digest: string): Promise<void> {
    this.#checkOpen();
    checkDigest(digest);
    const task = `cannot delete blob ${quote(digest)}`;
    const folder = this.#layout.folderOf(digest);
    if (!(await this.#hasFolder(task, folder))) return;
    try {
      await this.#disk.unlink(this.#layout.fileOf(digest));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      throw failureFrom(task, error, this.#layout.root);
    }
    await this.#sync(task, () => this.#disk.syncDirectory(folder));
  }

  async *list(): AsyncGenerator<BlobInfo, void, undefined> {
    this.#checkOpen();
    const task = "cannot list blobs";
    try {
      for await (const { name: folder } of this.#disk.list(this.#layout.root)) {
        if (!FOLDER.test(folder)) continue;
        const path = join(this.#layout.root, folder);
        if (!(await this.#hasFolder(task, path))) continue;
        for await (const { name } of this.#disk.list(path)) {
          if (!isDigest(name) || !name.startsWith(folder)) continue;
          const entry = await this.#disk.find(this.#layout.fileOf(name));
          if (entry?.kind === "file") yield { digest: name, sizeBytes: entry.sizeBytes };
        }
      }
    } catch (error) {
      throw failureFrom(task, error, this.#layout.root);
    }
  }

  /** Waits for puts under way; readers own their files. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#puts);
  }

  #checkOpen(): void {
    if (this.#closed) throw new CairnError("unavailable", "cannot use blob store: it is closed");
  }

  /** O_NOFOLLOW guards only the end of a path; this guards the directory before it. */
  async #hasFolder(task: string, folder: string): Promise<boolean> {
    const entry = await this.#try(task, () => this.#disk.find(folder));
    if (entry === undefined || entry.kind === "directory") return entry !== undefined;
    throw new CairnError("unavailable", `${task}: its directory was replaced by something else`, {
      hint: `remove what stands at ${folder}`,
    });
  }

  async #try<T>(task: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw failureFrom(task, error, this.#layout.root);
    }
  }

  /**
   * After a failed sync the system may have dropped data it will not mention again, so a later sync
   * proves nothing and nothing is stored any more. A full disk is no such failure.
   */
  async #sync(task: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isFull(error)) this.#syncFailed = true;
      throw failureFrom(task, error, this.#layout.root);
    }
  }

  #distrusted(): CairnError {
    return new CairnError("unavailable", "cannot write blob: the disk failed to keep an earlier one", {
      reason: "SYNC_FAILED",
      hint: `check the disk that holds ${this.#layout.root}, then restart the server`,
    });
  }
}

async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.byteLength > 0) rest = rest.subarray(await file.write(rest));
}

function notFound(digest: string): CairnError {
  return new CairnError("not-found", `cannot read blob ${quote(digest)}: it is not stored`);
}

function corrupt(digest: string): CairnError {
  return new CairnError("corrupt", `cannot read blob ${quote(digest)}: what is stored has another digest`, {
    hint: "upload the same content again to repair it",
  });
}
