import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "#base/clock.ts";
import { interruptible } from "#base/interruptible.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Principal } from "../types/principal.ts";
import type { BlobInfo, PutOptions } from "../types/blob.ts";
import type { UploadLedger } from "../ports/upload-ledger.ts";
import type { UploadStore } from "../ports/upload-store.ts";

const HALF_DIGITS = 32;
const TURN_MS = 15_000;
const RENEW_MS = 1_000;
const WAIT_MS_FIRST = 2;
const WAIT_MS_MAX = 200;
const EXPIRED_AT_ONCE = 100;

/** Everything that identifies an upload: a request that differs in a part of it gets another upload. */
export interface UploadKey {
  principal: Principal;
  runId: string;
  name: string;
  step: number | undefined;
  digest: string;
  totalBytes: number;
}

/** An upload while one request has its turn. */
export interface OpenUpload {
  /** How many bytes were received; undefined when it has not begun. */
  offset: number | undefined;
  /** Resolves with the new offset once the piece is durable. */
  append(content: AsyncIterable<Uint8Array>): Promise<number>;
  finish(expect: BlobInfo, beforePlace: PutOptions["beforePlace"]): Promise<BlobInfo>;
}

/**
 * Uploads in pieces, of all principals and through any core. It limits their number and lets one request at a time
 * work on each: a newer one ends the older, which most likely belongs to a connection that broke without the server
 * noticing.
 */
export class UploadTable {
  readonly #ledger: UploadLedger;
  readonly #store: UploadStore;
  readonly #clock: Clock;
  readonly #core = randomUUID();
  /** Only so that a newer request at this core need not wait for the next renewal. */
  readonly #working = new Map<string, AbortController>();

  constructor(parts: { uploadLedger: UploadLedger; uploadStore: UploadStore; clock: Clock }) {
    this.#ledger = parts.uploadLedger;
    this.#store = parts.uploadStore;
    this.#clock = parts.clock;
  }

  /** 64 hex digits, of which the first half says whose upload it is. */
  static idOf({ principal, runId, name, step, digest, totalBytes }: UploadKey): string {
    const hash = (...parts: unknown[]) =>
      createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HALF_DIGITS);
    return hash(principal.kind, principal.name) + hash(runId, name, step ?? null, digest, totalBytes);
  }

  /**
   * Runs `work` once no other request works on the upload, on any core. Throws `aborted` (SUPERSEDED) when a newer one takes over,
   * and `exhausted` when it `begins` and there are too many.
   */
  async alone<T>(id: string, begins: boolean, work: (upload: OpenUpload) => Promise<T>): Promise<T> {
    const superseded = new AbortController();
    this.#working.get(id)?.abort();
    this.#working.set(id, superseded);
    try {
      const turn = randomUUID();
      const taken = await this.#take(id, turn, begins, superseded.signal);
      if (taken === undefined) return await work(NOT_BEGUN);
      return await this.#inTurn(id, turn, taken.shared, superseded, work);
    } finally {
      if (this.#working.get(id) === superseded) this.#working.delete(id);
    }
  }

  /** undefined when it has not begun and does not now. */
  async #take(
    id: string,
    turn: string,
    begins: boolean,
    superseded: AbortSignal,
  ): Promise<{ shared: boolean } | undefined> {
    let waitMs = WAIT_MS_FIRST;
    let again = false;
    let adopts = begins;
    for (;;) {
      if (superseded.aborted) throw supersededError();
      const times = this.#times();
      const asked = { id, turn, core: this.#core, again, begins: adopts, ...times };
      const taken = await this.#ledger.takeUpload(asked);
      if (taken.state === "superseded") throw supersededError();
      if (taken.state === "taken") return taken;
      if (taken.state === "absent") {
        // Files from a version without rows, or of a store that was restored, are continued.
        if ((await this.#store.findUpload(id)) === undefined) return undefined;
        adopts = true;
        again = false;
        continue;
      }
      again = true;
      await setTimeout(waitMs);
      waitMs = Math.min(waitMs * 2, WAIT_MS_MAX);
    }
  }

  async #inTurn<T>(
    id: string,
    turn: string,
    shared: boolean,
    superseded: AbortController,
    work: (upload: OpenUpload) => Promise<T>,
  ): Promise<T> {
    let touchedUs: number | undefined;
    const end = async () => {
      const found = await this.#store.findUpload(id);
      const now = found && { touchedUs };
      await this.#ledger.endTurn(id, turn, this.#clock.nowUs(), now);
    };
    const stopRenewing = this.#keepRenewing(id, turn, superseded);
    let result: T;
    try {
      // Bytes that a core wrote and did not acknowledge before it died are kept: the digest decides at the end.
      const offset = (await this.#store.findUpload(id))?.sizeBytes;
      result = await work({
        offset,
        append: (content) => {
          touchedUs = this.#clock.nowUs();
          return this.#store.appendUpload(id, offset ?? 0, until(content, superseded.signal));
        },
        finish: (expect, beforePlace) =>
          this.#store.finishUpload(id, { expect, beforePlace, reread: shared }),
      });
    } catch (thrown) {
      stopRenewing();
      await end().catch(() => undefined);
      throw thrown;
    }
    stopRenewing();
    await end();
    return result;
  }

  /** Aborts when a newer request waits, or the turn is lost. */
  #keepRenewing(id: string, turn: string, superseded: AbortController): () => void {
    let endsMs = performance.now() + TURN_MS;
    const renew = async () => {
      const beganMs = performance.now();
      const { nowUs, untilUs } = this.#times();
      const state = await this.#ledger.renewUpload(id, turn, nowUs, untilUs).catch(() => "failed");
      if (state === "kept" || state === "wanted") endsMs = beganMs + TURN_MS;
      if (state === "wanted" || state === "lost" || performance.now() >= endsMs) superseded.abort();
    };
    const timer = setInterval(() => void renew(), RENEW_MS);
    return () => clearInterval(timer);
  }

  /** Drops those whose last piece is too old. Returns how many. */
  async expire(): Promise<number> {
    const beforeUs = this.#clock.nowUs() - limits.uploadExpiryMs * 1000;
    let dropped = 0;
    for (;;) {
      const turn = randomUUID();
      const asked = { beforeUs, turn, limit: EXPIRED_AT_ONCE, ...this.#times() };
      const ids = await this.#ledger.takeExpired(asked);
      for (const id of ids) {
        await this.#store.dropUpload(id);
        await this.#ledger.endTurn(id, turn, this.#clock.nowUs(), undefined);
      }
      dropped += ids.length;
      if (ids.length < EXPIRED_AT_ONCE) break;
    }
    for await (const { id, touchedMs } of this.#store.listUploads()) {
      if (touchedMs * 1000 >= beforeUs || (await this.#ledger.findUploads([id])).length > 0) continue;
      await this.#store.dropUpload(id);
      dropped++;
    }
    return dropped;
  }

  #times(): { nowUs: number; untilUs: number } {
    const nowUs = this.#clock.nowUs();
    return { nowUs, untilUs: nowUs + TURN_MS * 1000 };
  }
}

const NOT_BEGUN: OpenUpload = {
  offset: undefined,
  append: () => Promise.reject(notBegun()),
  finish: () => Promise.reject(notBegun()),
};

function notBegun(): CairnError {
  return new CairnError("internal", "cannot add to an upload that has not begun");
}

function supersededError(): CairnError {
  return new CairnError("aborted", "cannot continue the upload: a newer request took it over", {
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
