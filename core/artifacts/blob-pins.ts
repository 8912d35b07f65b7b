import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "#base/clock.ts";
import { CairnError } from "#lang/errors.ts";
import { ALL_BLOBS, type BlobLedger } from "../ports/blob-ledger.ts";

/** From just before a blob gets its name until its row is durable. */
const PIN_US = 3_600_000_000;
/** Renewed long before it ends; after a backup that died it only delays freeing space. */
const ALL_US = 86_400_000_000;
const ALL_RENEW_MS = 600_000;
/** A blob that is being destroyed is gone soon, unless the process that destroys it has died. */
const WAIT_MS_MAX = 30_000;
const WAIT_MS_FIRST = 2;
const RETRY_MS = 60_000;

/** Keeps blobs from being destroyed by any server: see BlobLedger. */
export class BlobPins {
  readonly #ledger: BlobLedger;
  readonly #clock: Clock;
  readonly #waitMsMax: number;

  constructor(parts: { ledger: BlobLedger; clock: Clock; waitMsMax?: number }) {
    this.#ledger = parts.ledger;
    this.#clock = parts.clock;
    this.#waitMsMax = parts.waitMsMax ?? WAIT_MS_MAX;
  }

  /** Waits while it is being destroyed, and returns the holder of the pin. Throws `unavailable` (BLOB_BUSY) when that takes too long. */
  async pin(digest: string): Promise<string> {
    const holder = randomUUID();
    if (await this.#tryPin(digest, holder, PIN_US)) return holder;
    throw busy("cannot store content: the same content is being destroyed");
  }

  unpin(digest: string, holder: string): Promise<void> {
    return this.#ledger.unpinBlob(digest, holder);
  }

  /**
   * Nothing is destroyed while `work` runs: blobs in the store at its start exist until its end. Waits for blobs that are
   * being destroyed, while no more are; throws `unavailable` (BLOB_BUSY) when that takes too long.
   */
  async keepAll<T>(work: () => Promise<T>): Promise<T> {
    const holder = randomUUID();
    const renew = () => {
      const nowUs = this.#clock.nowUs();
      return this.#ledger.pinBlob(ALL_BLOBS, holder, nowUs, nowUs + ALL_US).catch(() => false);
    };
    let timer: NodeJS.Timeout | undefined;
    try {
      if (!(await this.#tryPin(ALL_BLOBS, holder, ALL_US))) {
        throw busy("cannot make or restore a backup: unused content is still being destroyed");
      }
      timer = setInterval(() => void renew(), ALL_RENEW_MS);
      return await work();
    } finally {
      clearInterval(timer);
      // A pin that could not be removed expires.
      await this.unpin(ALL_BLOBS, holder).catch(() => undefined);
    }
  }

  /** Returns false when the blobs being destroyed still exist at the end of the wait. */
  async #tryPin(digest: string, holder: string, holdUs: number): Promise<boolean> {
    const begun = performance.now();
    for (let waitMs = WAIT_MS_FIRST; ; waitMs = Math.min(waitMs * 2, 500)) {
      const nowUs = this.#clock.nowUs();
      if (await this.#ledger.pinBlob(digest, holder, nowUs, nowUs + holdUs)) return true;
      if (performance.now() - begun > this.#waitMsMax) return false;
      await setTimeout(waitMs);
    }
  }
}

function busy(message: string): CairnError {
  return new CairnError("unavailable", message, { reason: "BLOB_BUSY", retryAfterMs: RETRY_MS });
}
