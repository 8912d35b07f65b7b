import { interruptible } from "#base/interruptible.ts";
import { createHash } from "node:crypto";
import type { Principal } from "../access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { BlobInfo, BlobStore, PutOptions } from "../ports/blob-store.ts";

const OWNER_DIGITS = 32;
const FULL_RETRY_MS = 60_000;

/** Everything that makes an upload the same one: whoever knows only a part of it finds another. */
export interface UploadKey {
  principal: Principal;
  runId: string;
  name: string;
  step: number | undefined;
  digest: string;
  totalBytes: number;
}

/** One that works on an upload at this moment. */
interface Turn {
  superseded: AbortController;
  done: Promise<void>;
}

/**
 * Uploads that come in pieces, of everybody. It keeps their number within limits and lets one request at a
 * time work on each: a newer one ends the older, which most likely belongs to a connection that broke
 * without the server noticing.
 */
export class UploadTable {
  readonly #blobs: BlobStore;
  readonly #nowMs: () => number;
  /** Where each stands, by id. */
  readonly #known = new Map<string, { sizeBytes: number; touchedMs: number }>();
  readonly #countByOwner = new Map<string, number>();
  readonly #turns = new Map<string, Turn>();
  #loading: Promise<void> | undefined;

  constructor(parts: { blobs: BlobStore; nowMs: () => number }) {
    this.#blobs = parts.blobs;
    this.#nowMs = parts.nowMs;
  }

  /** 64 hex digits, of which the first half says whose upload it is. */
  static idOf({ principal, runId, name, step, digest, totalBytes }: UploadKey): string {
    const hash = (...parts: unknown[]) =>
      createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, OWNER_DIGITS);
    return hash(principal.kind, principal.name) + hash(runId, name, step ?? null, digest, totalBytes);
  }

  /** Runs `work` when nobody else works on the upload; `superseded` tells it that somebody newer waits. */
  async alone<T>(id: string, work: (superseded: AbortSignal) => Promise<T>): Promise<T> {
    await this.#load();
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = { superseded: new AbortController(), done: promise };
    const before = this.#turns.get(id);
    this.#turns.set(id, turn);
    try {
      before?.superseded.abort();
      await before?.done;
      const { signal } = turn.superseded;
      if (signal.aborted) throw supersededError();
      return await work(signal);
    } finally {
      resolve();
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  /** How much has come; undefined when it has not begun. Call while alone, as the next two. */
  offsetOf(id: string): number | undefined {
    return this.#known.get(id)?.sizeBytes;
  }

  /** Resolves with the new offset once the piece is durable. Throws `exhausted` when there are too many uploads. */
  async append(id: string, content: AsyncIterable<Uint8Array>, superseded: AbortSignal): Promise<number> {
    const offset = this.offsetOf(id) ?? 0;
    if (!this.#known.has(id)) this.#requireRoom(id);
    this.#set(id, offset);
    try {
      const size = await this.#blobs.appendUpload(id, offset, until(content, superseded));
      this.#set(id, size);
      return size;
    } catch (thrown) {
      // Part of it may have come.
      const found = await this.#blobs.findUpload(id);
      if (found === undefined) this.#forget(id);
      else this.#set(id, found.sizeBytes);
      throw thrown;
    }
  }

  async finish(id: string, expect: BlobInfo, beforePlace: PutOptions["beforePlace"]): Promise<BlobInfo> {
    try {
      return await this.#blobs.finishUpload(id, { expect, beforePlace });
    } finally {
      // Refused content was dropped; an upload that could not be placed is still there.
      if ((await this.#blobs.findUpload(id)) === undefined) this.#forget(id);
    }
  }

  /** Drops those whose last piece came too long ago. Returns how many. */
  async expire(): Promise<number> {
    await this.#load();
    const beforeMs = this.#nowMs() - limits.uploadExpiryMs;
    const old = [...this.#known].filter(([, { touchedMs }]) => touchedMs < beforeMs).map(([id]) => id);
    let dropped = 0;
    for (const id of old) {
      if (this.#turns.has(id)) continue;
      await this.alone(id, async () => {
        await this.#blobs.dropUpload(id);
        this.#forget(id);
        dropped++;
      });
    }
    return dropped;
  }

  /** What earlier processes left. */
  #load(): Promise<void> {
    this.#loading ??= (async () => {
      for await (const { id, sizeBytes, touchedMs } of this.#blobs.listUploads()) {
        this.#set(id, sizeBytes, touchedMs);
      }
    })().catch((thrown: unknown) => {
      this.#loading = undefined;
      throw thrown;
    });
    return this.#loading;
  }

  #set(id: string, sizeBytes: number, touchedMs: number = this.#nowMs()): void {
    if (!this.#known.has(id)) {
      const owner = ownerOf(id);
      this.#countByOwner.set(owner, (this.#countByOwner.get(owner) ?? 0) + 1);
    }
    this.#known.set(id, { sizeBytes, touchedMs });
  }

  #forget(id: string): void {
    if (!this.#known.delete(id)) return;
    const owner = ownerOf(id);
    const left = this.#countByOwner.get(owner)! - 1;
    if (left > 0) this.#countByOwner.set(owner, left);
    else this.#countByOwner.delete(owner);
  }

  #requireRoom(id: string): void {
    const mine = this.#countByOwner.get(ownerOf(id)) ?? 0;
    if (mine < limits.uploadsPerPrincipalMax && this.#known.size < limits.uploadsMax) return;
    const ours = mine >= limits.uploadsPerPrincipalMax;
    const max = ours ? limits.uploadsPerPrincipalMax : limits.uploadsMax;
    throw new CairnError(
      "exhausted",
      `cannot begin another upload in pieces: ${ours ? "you have" : "there are"} ${max} unfinished ones`,
      {
        reason: "TOO_MANY_UPLOADS",
        facts: { limit: String(max) },
        hint: "finish some; what nobody goes on with is dropped after 24 hours",
        retryAfterMs: FULL_RETRY_MS,
      },
    );
  }
}

function ownerOf(id: string): string {
  return id.slice(0, OWNER_DIGITS);
}

function supersededError(): CairnError {
  return new CairnError("aborted", "cannot go on with the upload: a newer request took it over", {
    reason: "SUPERSEDED",
  });
}

/** The content, until it ends or the signal does. */
function until(content: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array> {
  return interruptible(content, (interrupt) => {
    const abort = () => interrupt(supersededError());
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    return () => signal.removeEventListener("abort", abort);
  });
}
