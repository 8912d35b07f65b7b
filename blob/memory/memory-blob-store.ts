import { CairnError, quote } from "#core/errors.ts";
import { BlobIntake, checkDigest, checkRange } from "#core/model/blob.ts";
import type { BlobContent, BlobInfo, BlobStore, PutOptions } from "#core/ports/blob-store.ts";

const CHUNK_BYTES = 256 << 10;

/** Keeps blobs in this process and nowhere else: they are gone when it ends, as is all of `memory:`. */
export function openMemoryBlobStore(): BlobStore {
  return new MemoryBlobStore();
}

class MemoryBlobStore implements BlobStore {
  readonly #blobs = new Map<string, Uint8Array>();
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
    if (!this.#blobs.has(info.digest)) this.#blobs.set(info.digest, Buffer.concat(chunks, info.sizeBytes));
    return info;
  }

  async get(digest: string, range?: { start: number; end: number }): Promise<BlobContent> {
    this.#checkOpen();
    checkDigest(digest);
    const bytes = this.#blobs.get(digest);
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
    const bytes = this.#blobs.get(digest);
    return bytes === undefined ? undefined : { digest, sizeBytes: bytes.byteLength };
  }

  async delete(digest: string): Promise<void> {
    this.#checkOpen();
    checkDigest(digest);
    this.#blobs.delete(digest);
  }

  async *list(): AsyncGenerator<BlobInfo, void, undefined> {
    this.#checkOpen();
    for (const [digest, bytes] of this.#blobs) yield { digest, sizeBytes: bytes.byteLength };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#blobs.clear();
  }

  #checkOpen(): void {
    if (this.#closed) throw new CairnError("unavailable", "cannot use blob store: it is closed");
  }
}

/** Copies: a reader may do with its bytes what it likes. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
    yield new Uint8Array(bytes.subarray(at, at + CHUNK_BYTES));
  }
}
