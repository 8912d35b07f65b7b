import type { Clock } from "#base/clock.ts";
import type { Caller } from "../access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { checkArtifactHead, type Artifact, type UploadedArtifact } from "../types/artifact.ts";
import { checkDigest, wrongOffset, type BlobInfo } from "../types/blob.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { ArtifactStore } from "../ports/artifact-store.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { UploadLedger } from "../ports/upload-ledger.ts";
import type { UploadStore } from "../ports/upload-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { CapturePolicies } from "../runs/capture-policies.ts";
import type { BlobPins } from "./blob-pins.ts";
import type { BlobSweep } from "./blob-sweep.ts";
import { replaceRecord } from "./artifact-record.ts";
import { locateArtifact, type ArtifactScope } from "./locate.ts";
import { UploadTable } from "./upload-table.ts";

/** The metadata of an upload. */
export type UploadHead = Omit<UploadedArtifact, "blob" | "pin">;

export interface UploadPiece {
  /** Of the whole content. */
  digest: string;
  totalBytes: number;
  /** undefined only queries how much was received. */
  piece: { start: number; sizeBytes: number; content: AsyncIterable<Uint8Array> } | undefined;
}

export type UploadState = { done: true; artifact: Artifact } | { done: false; offset: number };

/**
 * Uploads of content, at once or in pieces. An artifact cannot be made by naming a digest: only the sender of the
 * bytes gets them.
 */
export class Uploads {
  readonly #store: ArtifactStore;
  readonly #runs: RunStore;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #captures: CapturePolicies;
  readonly #pins: BlobPins;
  readonly #sweep: BlobSweep;
  readonly #sizeBytesMax: number;
  readonly #table: UploadTable;

  constructor(parts: {
    store: ArtifactStore;
    runs: RunStore;
    blobs: BlobStore;
    uploadLedger: UploadLedger;
    uploadStore: UploadStore;
    clock: Clock;
    captures: CapturePolicies;
    pins: BlobPins;
    sweep: BlobSweep;
    sizeBytesMax: number;
  }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#blobs = parts.blobs;
    this.#clock = parts.clock;
    this.#captures = parts.captures;
    this.#pins = parts.pins;
    this.#sweep = parts.sweep;
    this.#sizeBytesMax = parts.sizeBytesMax;
    this.#table = new UploadTable(parts);
  }

  /** Stores content as a whole. It must match what is announced in `expect`. */
  async put(
    caller: Caller,
    run: RunRef,
    given: UploadHead,
    content: AsyncIterable<Uint8Array>,
    expect: { digest?: string; sizeBytes?: number } = {},
  ): Promise<Artifact> {
    const head = checkArtifactHead(given);
    const scope = await locateArtifact(this.#runs, caller, run, head.name);
    this.#captures.requireAllowed(scope);
    const sizeBytesMax = this.#sizeBytesMax;
    return this.#attach(caller, scope, head, (beforePlace) =>
      this.#blobs.put(content, { expect, sizeBytesMax, beforePlace }),
    );
  }

  /**
   * Accepts a piece of content, or returns how much was received; the last piece makes the artifact. Throws
   * `precondition` (UPLOAD_OFFSET, fact offset) for a piece that does not begin where the last one ended.
   */
  async putPiece(
    caller: Caller,
    run: RunRef,
    given: UploadHead,
    { digest, totalBytes, piece }: UploadPiece,
  ): Promise<UploadState> {
    const head = checkArtifactHead(given);
    checkDigest(digest);
    this.#requireSize(totalBytes, piece);
    const scope = await locateArtifact(this.#runs, caller, run, head.name);
    this.#captures.requireAllowed(scope);
    const { runId } = scope;
    const { name, step } = head;
    const id = UploadTable.idOf({ principal: caller.principal, runId, name, step, digest, totalBytes });
    const blob = { digest, sizeBytes: totalBytes };
    return this.#table.alone(id, piece?.start === 0, async (upload) => {
      if (upload.offset === undefined && piece?.start !== 0) {
        // The answer to the last piece may have been lost.
        const there = await this.#store.findArtifact(runId, name, step);
        if (isUpload(there, step, blob)) return { done: true, artifact: there };
      }
      let offset = upload.offset ?? 0;
      if (piece !== undefined) {
        if (piece.start !== offset) throw wrongOffset(piece.start, offset);
        offset = await upload.append(exactly(piece.content, piece.sizeBytes));
      }
      if (offset < totalBytes) return { done: false, offset };
      const artifact = await this.#attach(caller, scope, head, (beforePlace) =>
        upload.finish(blob, beforePlace),
      );
      return { done: true, artifact };
    });
  }

  /** Drops abandoned ones. Returns how many. */
  expire(): Promise<number> {
    return this.#table.expire();
  }

  /** `put` brings the blob into its place; the artifact is made while the blob is pinned. */
  async #attach(
    caller: Caller,
    { runId }: ArtifactScope,
    head: UploadHead,
    put: (beforePlace: (blob: BlobInfo) => Promise<void>) => Promise<BlobInfo>,
  ): Promise<Artifact> {
    let pinned: { digest: string; pin: string; scope: ArtifactScope } | undefined;
    let artifact: Artifact;
    try {
      const blob = await put(async ({ digest }) => {
        // It may have taken hours: the caller may have lost its right since, and the run may have been moved.
        const scope = await locateArtifact(this.#runs, caller, { by: "id", id: runId }, head.name);
        this.#captures.requireAllowed(scope);
        pinned = { digest, pin: await this.#pins.pin(digest), scope };
      });
      const nowUs = this.#clock.nowUs();
      const { pin, scope } = pinned!;
      const audit = replaceRecord(caller, nowUs, scope, head.step);
      artifact = await this.#store.putArtifact(runId, { ...head, blob, pin }, nowUs, audit);
    } catch (thrown) {
      // A storage that failed may still have the row at the next start, which must then find the content.
      if (pinned !== undefined && !mayHaveHappened(thrown)) await this.#giveUp(pinned);
      throw thrown;
    }
    await this.#sweep.collectSoon();
    return artifact;
  }

  /** Content that did not become an artifact. If this fails, the pin expires. */
  async #giveUp({ digest, pin }: { digest: string; pin: string }): Promise<void> {
    await this.#pins.unpin(digest, pin).catch(() => undefined);
    await this.#sweep.destroySoon(digest);
  }

  #requireSize(totalBytes: number, piece: UploadPiece["piece"]): void {
    if (!Number.isSafeInteger(totalBytes) || totalBytes < 1) {
      throw new CairnError("invalid", `cannot upload "${totalBytes}" bytes in pieces: it is not 1 or more`);
    }
    if (piece !== undefined && (piece.sizeBytes < 1 || piece.start + piece.sizeBytes > totalBytes)) {
      const cause = `${piece.sizeBytes} bytes at ${piece.start} are not within ${totalBytes}`;
      throw new CairnError("invalid", `cannot accept a piece: ${cause}`);
    }
    if (totalBytes <= this.#sizeBytesMax) return;
    throw new CairnError("exhausted", `cannot store ${totalBytes} bytes: the most is ${this.#sizeBytesMax}`, {
      reason: "LIMIT_EXCEEDED",
      facts: { limit: String(this.#sizeBytesMax) },
      hint: "raise --artifact-size-max, or keep the file elsewhere and record a reference to it",
    });
  }
}

/** Whether the refused change may have been made nevertheless. */
function mayHaveHappened(thrown: unknown): boolean {
  const { code, reason } = CairnError.from(thrown);
  return (code === "unavailable" && reason !== "DISK_FULL") || code === "internal";
}

function isUpload(
  artifact: Artifact | undefined,
  step: number | undefined,
  { digest, sizeBytes }: BlobInfo,
): artifact is Artifact {
  return (
    artifact?.place === "blob" &&
    artifact.step === step &&
    artifact.sha256 === digest &&
    artifact.sizeBytes === sizeBytes
  );
}

/** Throws `invalid` as soon as there is more, and at the end when there was less. */
async function* exactly(content: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  let left = sizeBytes;
  for await (const chunk of content) {
    left -= chunk.byteLength;
    if (left < 0) throw wrongLength(sizeBytes);
    yield chunk;
  }
  if (left > 0) throw wrongLength(sizeBytes);
}

function wrongLength(sizeBytes: number): CairnError {
  return new CairnError(
    "invalid",
    `cannot accept the piece: it does not have the ${sizeBytes} bytes it announces`,
    {
      reason: "BODY_LENGTH",
    },
  );
}
