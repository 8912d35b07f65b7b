import { createHash, type Hash } from "node:crypto";

import { CairnError, quote } from "#lang/errors.ts";

export interface BlobInfo {
  digest: string;
  sizeBytes: number;
}

export interface PutOptions {
  expect?: { digest?: string; sizeBytes?: number };
  sizeBytesMax: number;
  /**
   * Awaited when all bytes were received and are as expected, just before the blob is visible under its digest:
   * the moment to keep others from deleting it. When it throws, nothing is kept.
   */
  beforePlace?: ((blob: BlobInfo) => Promise<void>) | undefined;
}

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return text.length === 64 && DIGEST.test(text);
}

/** Throws `invalid` unless the text is a SHA-256 as the blob stores write it. */
export function checkDigest(digest: string): void {
  if (isDigest(digest)) return;
  throw new CairnError("invalid", `cannot use blob digest ${quote(digest)}: it is not a SHA-256`, {
    hint: "a digest is 64 lower-case hex digits",
  });
}

/** Throws `invalid` unless the text is an id of an upload, which is written like a digest. */
export function checkUploadId(id: string): void {
  if (!isDigest(id)) throw new CairnError("invalid", `cannot use upload id ${quote(id)}: not 64 hex digits`);
}

/** A piece does not begin at the end of the upload; `offset` is where it should. */
export function wrongOffset(given: number, offset: number): CairnError {
  return new CairnError("precondition", `cannot add to upload at byte ${given}: it has ${offset}`, {
    reason: "UPLOAD_OFFSET",
    facts: { offset: String(offset) },
    hint: "continue from there",
  });
}

export function missingUpload(id: string): CairnError {
  return new CairnError("not-found", `cannot find upload ${quote(id)}`);
}

/** Throws `invalid` unless [start, end) lies within a blob of that size; it may be empty. */
export function checkRange(range: { start: number; end: number }, blob: BlobInfo): void {
  const { start, end } = range;
  const whole = Number.isSafeInteger(start) && Number.isSafeInteger(end);
  if (whole && start >= 0 && start <= end && end <= blob.sizeBytes) return;
  throw new CairnError(
    "invalid",
    `cannot read bytes ${start} to ${end} of blob ${quote(blob.digest)}: it has ${blob.sizeBytes}`,
    { reason: "RANGE", facts: { sizeBytes: String(blob.sizeBytes) } },
  );
}

/** Measures content while it is stored and compares it with what the caller announced. */
export class BlobIntake {
  readonly #options: PutOptions;
  readonly #hash: Hash = createHash("sha256");
  #sizeBytes = 0;

  /** Throws if the announced size is already too large. */
  constructor(options: PutOptions) {
    this.#options = options;
    const expected = options.expect;
    if (expected?.digest !== undefined) checkDigest(expected.digest);
    if (expected?.sizeBytes !== undefined && expected.sizeBytes > options.sizeBytesMax) {
      throw tooLarge(options.sizeBytesMax);
    }
  }

  /** Throws `exhausted` or `invalid` as soon as there is too much. */
  add(chunk: Uint8Array): void {
    this.admit(chunk);
    this.measure(chunk);
  }

  /** The first half of `add`, which throws. The chunk may be written from then on, while it is measured. */
  admit(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.byteLength;
    if (this.#sizeBytes > this.#options.sizeBytesMax) throw tooLarge(this.#options.sizeBytesMax);
    const expected = this.#options.expect?.sizeBytes;
    if (expected !== undefined && this.#sizeBytes > expected) {
      throw new CairnError("invalid", `cannot store blob: more than the ${expected} bytes announced came`);
    }
  }

  measure(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  /** The digest and size, after the last chunk. Throws `invalid` when they are not the announced ones. */
  finish(): BlobInfo {
    const blob = { digest: this.#hash.digest("hex"), sizeBytes: this.#sizeBytes };
    requireExpected(blob, this.#options.expect);
    return blob;
  }
}

/** Throws `invalid` when content differs from the announced digest or size. */
export function requireExpected({ digest, sizeBytes }: BlobInfo, expected: PutOptions["expect"]): void {
  if (expected?.sizeBytes !== undefined && expected.sizeBytes !== sizeBytes) {
    throw new CairnError(
      "invalid",
      `cannot store blob: ${sizeBytes} bytes came, ${expected.sizeBytes} were announced`,
      { hint: "send the whole file; it may have changed while it was read" },
    );
  }
  if (expected?.digest !== undefined && expected.digest !== digest) {
    throw new CairnError(
      "invalid",
      `cannot store blob ${quote(expected.digest)}: what came has SHA-256 ${quote(digest)}`,
      {
        reason: "DIGEST_MISMATCH",
        hint: "send it again; it was damaged on the way or changed while it was read",
      },
    );
  }
}

function tooLarge(sizeBytesMax: number): CairnError {
  return new CairnError("exhausted", `cannot store blob: it has more than ${sizeBytesMax} bytes`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(sizeBytesMax) },
    hint: "raise the artifact size in the settings, or keep the file elsewhere and record a reference to it",
  });
}
