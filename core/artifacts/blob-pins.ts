import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "#base/clock.ts";
import { CairnError } from "#lang/errors.ts";
import { ALL_BLOBS, type BlobLedger } from "../ports/blob-ledger.ts";

/** From just before a blob gets its name until its row is durable. */
const PIN_US = 3_600_000_000;
/** Renewed long before it ends; of a backup that died it only delays what frees space. */
const ALL_US = 86_400_000_000;
const ALL_RENEW_MS = 600_000;
/** Something that is being destroyed is gone soon, unless who destroys it has died. */
const WAIT_MS_MAX = 30_000;
const WAIT_MS_FIRST = 2;
const RETRY_MS = 60_000;

/** Keeps blobs from being destroyed, on whatever server: see BlobLedger. */
export class BlobPins {
  readonly #ledger: BlobLedger;
  readonly #clock: Clock;

  constructor(parts: { ledger: BlobLedger; clock: Clock }) {
    this.#ledger = parts.ledger;
    this.#clock = parts.clock;
  }

  /** Waits while it is being destroyed, and returns the holder of the pin. Throws `unavailable` (BLOB_BUSY) when that takes too long. */
  async pin(digest: string, holdUs: number = PIN_US): Promise<string> {
    const holder = randomUUID();
    const begun = performance.now();
    for (let waitMs = WAIT_MS_FIRST; ; waitMs = Math.min(waitMs * 2, 500)) {
      const nowUs = this.#clock.nowUs();
      if (await this.#ledger.pinBlob(digest, holder, nowUs, nowUs + holdUs)) return holder;
      if (performance.now() - begun > WAIT_MS_MAX) throw busy();
      await setTimeout(waitMs);
    }
  }

  unpin(digest: string, holder: string): Promise<void> {
    return this.#ledger.unpinBlob(digest, holder);
  }

  /** Nothing is destroyed while `work` runs: what is in the store at its start is there until its end. */
  async keepAll<T>(work: () => Promise<T>): Promise<T> {
    const holder = await this.pin(ALL_BLOBS, ALL_US);
    const renew = () => {
      const nowUs = this.#clock.nowUs();
      return this.#ledger.pinBlob(ALL_BLOBS, holder, nowUs, nowUs + ALL_US).catch(() => false);
    };
    const timer = setInterval(() => void renew(), ALL_RENEW_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      // What could not be taken back ends by itself.
      await this.unpin(ALL_BLOBS, holder).catch(() => undefined);
    }
  }
}

function busy(): CairnError {
  return new CairnError("unavailable", "cannot store content: the same content is being destroyed", {
    reason: "BLOB_BUSY",
    retryAfterMs: RETRY_MS,
  });
}
