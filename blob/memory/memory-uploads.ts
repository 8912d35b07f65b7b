import { createHash } from "node:crypto";

import {
  checkUploadId,
  missingUpload,
  requireExpected,
  wrongOffset,
  type BlobInfo,
} from "#core/types/blob.ts";
import type { UploadInfo } from "#core/ports/upload-store.ts";

interface Upload {
  pieces: Uint8Array[];
  sizeBytes: number;
  touchedMs: number;
}

/** Content that comes in pieces, kept in this process. */
export class MemoryUploads {
  readonly #uploads = new Map<string, Upload>();

  *list(): Generator<UploadInfo> {
    for (const [id, { sizeBytes, touchedMs }] of this.#uploads) yield { id, sizeBytes, touchedMs };
  }

  find(id: string): UploadInfo | undefined {
    checkUploadId(id);
    const upload = this.#uploads.get(id);
    return upload && { id, sizeBytes: upload.sizeBytes, touchedMs: upload.touchedMs };
  }

  async append(id: string, offset: number, content: AsyncIterable<Uint8Array>): Promise<number> {
    const size = this.find(id)?.sizeBytes ?? 0;
    if (size !== offset) throw wrongOffset(offset, size);
    const upload = this.#uploads.get(id) ?? { pieces: [], sizeBytes: 0, touchedMs: 0 };
    this.#uploads.set(id, upload);
    upload.touchedMs = Date.now();
    let sent = 0;
    for await (const piece of content) {
      const added = upload.sizeBytes - offset;
      if (added !== sent) throw wrongOffset(offset + sent, upload.sizeBytes);
      sent += piece.byteLength;
      // The stream may use its buffer again.
      upload.pieces.push(new Uint8Array(piece));
      upload.sizeBytes += piece.byteLength;
    }
    return upload.sizeBytes;
  }

  /** All of it. Throws `not-found`, or `invalid` when it is not what was announced, and then drops it. */
  take(id: string, expected: BlobInfo): { info: BlobInfo; bytes: Uint8Array } {
    checkUploadId(id);
    const upload = this.#uploads.get(id);
    if (upload === undefined) throw missingUpload(id);
    const bytes = Buffer.concat(upload.pieces, upload.sizeBytes);
    const digest = createHash("sha256").update(bytes).digest("hex");
    const info = { digest, sizeBytes: upload.sizeBytes };
    try {
      requireExpected(info, expected);
    } catch (error) {
      this.drop(id);
      throw error;
    }
    return { info, bytes };
  }

  drop(id: string): void {
    checkUploadId(id);
    this.#uploads.delete(id);
  }
}
