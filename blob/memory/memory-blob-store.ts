import { CairnError, quote } from "#lang/errors.ts";
import { BlobIntake, checkDigest, checkRange, type BlobInfo, type PutOptions } from "#core/types/blob.ts";
import type { BlobContent, BlobStore } from "#core/ports/blob-store.ts";
import type { FinishOptions, UploadInfo, UploadStore } from "#core/ports/upload-store.ts";

import { MemoryUploads } from "./memory-uploads.ts";

const CHUNK_BYTES = 256 << 10;

/** Keeps blobs in memory only: they are gone when the process ends, as is all of `memory:`. */
export function openMemoryBlobStore(): BlobStore & UploadStore {
  return new MemoryBlobStore();
}

class MemoryBlobStore implements BlobStore, UploadStore {
  readonly #blobs = new Map<string, { bytes: Uint8Array; putMs: number }>();
  readonly #uploads = new MemoryUploads();
  #closed = false;

  async put(content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobInfo> {
    this.#checkOpen();
    const intake = new BlobIntake(options);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) {
      intake.add(chunk);
      // The stream may use its buffer again.
      chunks.push(new Uint8Array(chunk));
    }
    const info = intake.finish();
    await options.beforePlace?.(info);
    this.#place(info, Buffer.concat(chunks, info.sizeBytes));
    return info;
  }

  async get(digest: string, range?: { start: number; end: number }): Promise<BlobContent> {
    this.#checkOpen();
    checkDigest(digest);
    const bytes = this.#blobs.get(digest)?.bytes;
    if (bytes === undefined) {
      throw new CairnError("not-found", `cannot read blob ${quote(digest)}: it is not stored`);
    }
    const info = { digest, sizeBytes: bytes.byteLength };
    if (range !== undefined) checkRange(range, info);
    return { ...info, body: pieces(bytes.subarray(range?.start, range?.end)) };
  }

  async find(digest: string): Promise<BlobInfo | undefined> {
    this.#checkOpen();
    checkDigest(digest);
    const bytes = this.#blobs.get(digest)?.bytes;
    return bytes === undefined ? undefined : { digest, sizeBytes: bytes.byteLength };
  }

  async delete(digest: string): Promise<void> {
    this.#checkOpen();
    checkDigest(digest);
    this.#blobs.delete(digest);
  }

  async *list(options: { putBeforeMs?: number } = {}): AsyncGenerator<BlobInfo, void, undefined> {
    this.#checkOpen();
    const beforeMs = options.putBeforeMs ?? Number.POSITIVE_INFINITY;
    for (const [digest, { bytes, putMs }] of this.#blobs) {
      if (putMs < beforeMs) yield { digest, sizeBytes: bytes.byteLength };
    }
  }

  async *listUploads(): AsyncGenerator<UploadInfo, void, undefined> {
    this.#checkOpen();
    yield* this.#uploads.list();
  }

  async findUpload(id: string): Promise<UploadInfo | undefined> {
    this.#checkOpen();
    return this.#uploads.find(id);
  }

  async appendUpload(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    this.#checkOpen();
    return this.#uploads.append(id, offset, content);
  }

  async finishUpload(id: string, options: FinishOptions): Promise<BlobInfo> {
    this.#checkOpen();
    const { info, bytes } = this.#uploads.take(id, options.expect);
    await options.beforePlace?.(info);
    this.#place(info, bytes);
    this.#uploads.drop(id);
    return info;
  }

  async dropUpload(id: string): Promise<void> {
    this.#checkOpen();
    this.#uploads.drop(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#blobs.clear();
  }

  #place({ digest }: BlobInfo, bytes: Uint8Array): void {
    this.#blobs.set(digest, { bytes: this.#blobs.get(digest)?.bytes ?? bytes, putMs: Date.now() });
  }

  #checkOpen(): void {
    if (this.#closed) throw new CairnError("unavailable", "cannot use blob store: it is closed");
  }
}

/** Copies, because a reader may change its bytes. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
    yield new Uint8Array(bytes.subarray(at, at + CHUNK_BYTES));
  }
}
