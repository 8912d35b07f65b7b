import { createHash, type Hash } from "node:crypto";

import { CairnError, quote } from "#lang/errors.ts";
import {
  checkUploadId,
  isDigest,
  missingUpload,
  requireExpected,
  wrongOffset,
  type BlobInfo,
} from "#core/types/blob.ts";
import type { FinishOptions, UploadInfo } from "#core/ports/upload-store.ts";

import { errnoOf, type AppendableFile } from "./disk.ts";
import { isFull } from "./failure.ts";
import { type Root, writeAll } from "./root.ts";

const READ_BYTES = 256 << 10;

/** How far the digest of an upload is computed. */
interface Progress {
  hash: Hash;
  sizeBytes: number;
}

/**
 * Content that comes in pieces: one file per upload, to which each piece is written at its offset and synced
 * before it is acknowledged. How much there is, is the size of the file; when the power fails in the
 * middle of a piece that may be more than was acknowledged, or nonsense, which the digest shows at the end.
 *
 * The digest is computed along the way. After a restart, or when another server has written too, what is there is read
 * once more at the end.
 */
export class FsUploads {
  readonly #root: Root;
  readonly #progress = new Map<string, Progress>();

  constructor(root: Root) {
    this.#root = root;
  }

  async *list(): AsyncGenerator<UploadInfo, void, undefined> {
    const { disk, layout } = this.#root;
    for await (const { name } of disk.list(layout.uploads)) {
      const upload = isDigest(name) ? await this.find(name) : undefined;
      if (upload !== undefined) yield upload;
    }
  }

  async find(id: string): Promise<UploadInfo | undefined> {
    checkUploadId(id);
    const task = `cannot find upload ${quote(id)}`;
    if (!(await this.#hasFolder(task))) return undefined;
    const entry = await this.#root.try(task, () => this.#root.disk.find(this.#fileOf(id)));
    if (entry?.kind !== "file") return undefined;
    return { id, sizeBytes: entry.sizeBytes, touchedMs: entry.modifiedMs };
  }

  async append(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    checkUploadId(id);
    this.#root.requireTrusted();
    const task = `cannot write upload ${quote(id)}`;
    if (!(await this.#hasFolder(task))) throw gone(task);
    const found = await this.find(id);
    if ((found?.sizeBytes ?? 0) !== offset) throw wrongOffset(offset, found?.sizeBytes ?? 0);
    const file = await this.#root.try(task, () => this.#root.disk.openForAppending(this.#fileOf(id), offset));
    try {
      return await this.#write(task, id, file, offset, content);
    } finally {
      await file.close().catch(() => {});
    }
  }

  async #write(
    task: string,
    id: string,
    file: AppendableFile,
    offset: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const { kind } = await this.#root.try(task, () => file.stat());
    if (kind !== "file") throw gone(task);
    const progress = this.#progressAt(id, offset);
    let size = offset;
    // What arrived before a stream broke off is kept.
    let broken: { error: unknown } | undefined;
    try {
      for await (const chunk of pieces(content, (error) => (broken = { error }))) {
        // The disk works while the digest is computed.
        const writing = this.#root.try(task, () => writeAll(file, chunk));
        progress?.hash.update(chunk);
        await writing;
        size += chunk.byteLength;
      }
      await this.#root.sync(task, () => file.sync());
      if (offset === 0)
        await this.#root.sync(task, () => this.#root.disk.syncDirectory(this.#root.layout.uploads));
    } catch (error) {
      // Back to what was acknowledged before; where that fails too, the size of the file is what counts.
      this.#progress.delete(id);
      if (isFullFailure(error)) await file.truncate(offset).catch(() => {});
      throw error;
    }
    if (progress !== undefined) progress.sizeBytes = size;
    if (broken !== undefined) throw broken.error;
    return size;
  }

  /** undefined when the digest of what is there is not known. */
  #progressAt(id: string, offset: number): Progress | undefined {
    if (offset === 0) this.#progress.set(id, { hash: createHash("sha256"), sizeBytes: 0 });
    const progress = this.#progress.get(id);
    return progress?.sizeBytes === offset ? progress : undefined;
  }

  async finish(id: string, { expect, beforePlace, reread = false }: FinishOptions): Promise<BlobInfo> {
    const task = `cannot finish upload ${quote(id)}`;
    const found = await this.find(id);
    if (found === undefined) throw missingUpload(id);
    this.#root.requireTrusted();
    if (reread) this.#progress.delete(id);
    const blob = await this.#measure(task, id, found.sizeBytes);
    try {
      requireExpected(blob, expect);
    } catch (error) {
      await this.drop(id);
      throw error;
    }
    await this.#root.place(this.#fileOf(id), blob, beforePlace);
    this.#progress.delete(id);
    return blob;
  }

  async #measure(task: string, id: string, sizeBytes: number): Promise<BlobInfo> {
    const known = this.#progress.get(id);
    if (known?.sizeBytes === sizeBytes) return { digest: known.hash.copy().digest("hex"), sizeBytes };
    await this.#syncFile(task, id);
    const file = await this.#root.try(task, () => this.#root.disk.openForReading(this.#fileOf(id)));
    try {
      const hash = createHash("sha256");
      const target = Buffer.allocUnsafeSlow(READ_BYTES);
      let position = 0;
      for (;;) {
        const read = await this.#root.try(task, () => file.read(target, position));
        if (read === 0) return { digest: hash.digest("hex"), sizeBytes: position };
        position += read;
        hash.update(target.subarray(0, read));
      }
    } finally {
      await file.close().catch(() => {});
    }
  }

  /** What an earlier process wrote and did not acknowledge may not be on the disk yet. */
  async #syncFile(task: string, id: string): Promise<void> {
    const file = await this.#root.try(task, () => this.#root.disk.openForAppending(this.#fileOf(id), 0));
    try {
      await this.#root.sync(task, () => file.sync());
    } finally {
      await file.close().catch(() => {});
    }
  }

  async drop(id: string): Promise<void> {
    checkUploadId(id);
    this.#progress.delete(id);
    const task = `cannot drop upload ${quote(id)}`;
    if (!(await this.#hasFolder(task))) return;
    const { disk } = this.#root;
    await this.#root.try(task, async () => {
      if ((await disk.find(this.#fileOf(id))) === undefined) return;
      await disk.unlink(this.#fileOf(id)).catch((error: unknown) => {
        // Another server was faster.
        if (errnoOf(error) !== "ENOENT") throw error;
      });
    });
  }

  #hasFolder(task: string): Promise<boolean> {
    return this.#root.hasFolder(task, this.#root.layout.uploads);
  }

  #fileOf(id: string): string {
    return this.#root.layout.uploadOf(id);
  }
}

/** The bytes until the stream ends or breaks off; then `onBreak` is called. */
async function* pieces(
  content: AsyncIterable<Uint8Array>,
  onBreak: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const iterator = content[Symbol.asyncIterator]();
  let open = true;
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await iterator.next();
      } catch (error) {
        open = false;
        onBreak(error);
        return;
      }
      if (next.done === true) {
        open = false;
        return;
      }
      yield next.value;
    }
  } finally {
    if (open) await iterator.return?.();
  }
}

function isFullFailure(error: unknown): boolean {
  return error instanceof CairnError && isFull(error.cause);
}

function gone(task: string): CairnError {
  return new CairnError("unavailable", `${task}: something else is in its place`, {
    hint: "restart the server to create its directory again",
  });
}
