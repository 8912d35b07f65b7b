import { basename } from "node:path";

import { CairnError, quote } from "#lang/errors.ts";
import type { BlobInfo, PutOptions } from "#core/types/blob.ts";

import type { Disk, WritableFile } from "./disk.ts";
import { failureFrom, isFull } from "./failure.ts";
import type { Layout } from "./layout.ts";

/** The directory of a blob store, with the steps that whole blobs and uploads in pieces share. */
export class Root {
  readonly disk: Disk;
  readonly layout: Layout;
  /** Directories that are known to be durable. */
  readonly #lastingFolders = new Set<string>();
  readonly #onFailure: (error: CairnError) => void;
  #syncFailed = false;

  /** `onFailure` is called once, when nothing can be stored any more. */
  constructor(disk: Disk, layout: Layout, onFailure: (error: CairnError) => void = () => {}) {
    this.disk = disk;
    this.layout = layout;
    this.#onFailure = onFailure;
  }

  /** What the file system throws becomes a CairnError. `task` reads: cannot write blob "…". */
  async try<T>(task: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw failureFrom(task, error);
    }
  }

  /**
   * After a failed sync the system may have dropped data without reporting it again, so a later sync proves nothing and
   * nothing is stored any more. A full disk is not such a failure.
   */
  async sync(task: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isFull(error) && !this.#syncFailed) {
        this.#syncFailed = true;
        this.#onFailure(this.#distrusted());
      }
      throw failureFrom(task, error);
    }
  }

  /** Throws `unavailable` once a sync has failed. */
  requireTrusted(): void {
    if (this.#syncFailed) throw this.#distrusted();
  }

  #distrusted(): CairnError {
    return new CairnError("unavailable", "cannot write blob: the disk failed to keep an earlier one", {
      reason: "SYNC_FAILED",
      hint: "check the disk that holds the blobs, then restart the server",
    });
  }

  /** Gives a synced file its digest as its name, durably. */
  async place(file: string, blob: BlobInfo, beforePlace: PutOptions["beforePlace"]): Promise<void> {
    const { digest } = blob;
    const task = `cannot write blob ${quote(digest)}`;
    const folder = this.layout.folderOf(digest);
    await this.#ensureFolder(task, folder);
    await beforePlace?.(blob);
    await this.try(task, () => this.disk.rename(file, this.layout.fileOf(digest)));
    await this.sync(task, () => this.disk.syncDirectory(folder));
  }

  async #ensureFolder(task: string, folder: string): Promise<void> {
    if (!(await this.hasFolder(task, folder))) {
      this.#lastingFolders.delete(folder);
      await this.try(task, () => this.disk.makeDirectory(folder));
    }
    if (this.#lastingFolders.has(folder)) return;
    await this.sync(task, () => this.disk.syncDirectory(this.layout.root));
    this.#lastingFolders.add(folder);
  }

  /** O_NOFOLLOW guards only the end of a path; this guards the directory before it. */
  async hasFolder(task: string, folder: string): Promise<boolean> {
    const entry = await this.try(task, () => this.disk.find(folder));
    if (entry === undefined || entry.kind === "directory") return entry !== undefined;
    throw new CairnError("unavailable", `${task}: its directory was replaced by something else`, {
      hint: `remove the entry ${basename(folder)} in the folder of blobs`,
    });
  }
}

export async function writeAll(file: WritableFile, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.byteLength > 0) rest = rest.subarray(await file.write(rest));
}
