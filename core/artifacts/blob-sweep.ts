import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "#base/clock.ts";
import type { BlobLedger } from "../ports/blob-ledger.ts";
import type { BlobStore } from "../ports/blob-store.ts";

/** Younger blobs may belong to an upload whose row is still to come, in this process or after a restart. */
const ORPHAN_AGE_MS = 3_600_000;
const STEP_BLOBS = 100;
const MARK_MS = 900_000;
/** Nothing is deleted under an older mark, so that even a deletion that hangs for minutes is over when the mark ends. */
const MARK_AGE_MS_MAX = 60_000;

/**
 * Destroys content that no artifact has any more. In the usual case the store names it: whatever removes the
 * last artifact of a digest writes the digest down in the same transaction (`collect`). Only a crash between a
 * blob and its row leaves a blob that nothing names; those are found by checking every blob
 * (`sweepOrphans`), in small steps between which other work runs.
 */
export class BlobSweep {
  readonly #ledger: BlobLedger;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #onFailure: (thrown: unknown) => void;
  /** Blobs being destroyed at this moment. */
  readonly #destroying = new Set<Promise<number>>();
  #collecting: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(parts: {
    ledger: BlobLedger;
    blobs: BlobStore;
    clock: Clock;
    onSweepFailure: (thrown: unknown) => void;
  }) {
    this.#ledger = parts.ledger;
    this.#blobs = parts.blobs;
    this.#clock = parts.clock;
    this.#onFailure = parts.onSweepFailure;
  }

  /**
   * As `collect`, for calls that have removed something: the call itself has succeeded, and a failure here
   * concerns only the space on the disk. It is reported, and retried later.
   */
  async collectSoon(): Promise<void> {
    await this.collect().catch(this.#onFailure);
  }

  /** Destroys one blob if no artifact has it; a failure as with `collectSoon`. */
  async destroySoon(digest: string): Promise<void> {
    await this.#destroy([digest]).catch(this.#onFailure);
  }

  /** Destroys what the store names as unused. Pinned ones are left for the next time. */
  async collect(): Promise<void> {
    if (this.#collecting !== undefined) {
      // Digests that were recorded after the running collection read the list need another one.
      this.#again = true;
      return this.#collecting;
    }
    this.#collecting = this.#collect().finally(() => (this.#collecting = undefined));
    return this.#collecting;
  }

  async #collect(): Promise<void> {
    do {
      this.#again = false;
      for (;;) {
        if (this.#stopped) return;
        const digests = await this.#ledger.listUnusedBlobs(STEP_BLOBS);
        const destroyed = await this.#destroy(digests);
        if (destroyed === 0 || digests.length < STEP_BLOBS) break;
      }
    } while (this.#again);
  }

  /** Destroys those of the blobs that may be. Returns how many; throws when some could not be, after it has tried all. */
  async #destroy(digests: readonly string[]): Promise<number> {
    if (this.#stopped || digests.length === 0) return 0;
    const destroying = this.#destroyMarked(digests);
    this.#destroying.add(destroying);
    try {
      return await destroying;
    } finally {
      this.#destroying.delete(destroying);
    }
  }

  async #destroyMarked(digests: readonly string[]): Promise<number> {
    const holder = randomUUID();
    const nowUs = this.#clock.nowUs();
    const beforeMs = performance.now() + MARK_AGE_MS_MAX;
    const marked = await this.#ledger.markBlobs(digests, holder, nowUs, nowUs + MARK_MS * 1000);
    if (marked.length === 0) return 0;
    const destroyed: string[] = [];
    let failure: { thrown: unknown } | undefined;
    for (const digest of marked) {
      if (this.#stopped || performance.now() > beforeMs) break;
      try {
        await this.#blobs.delete(digest);
        destroyed.push(digest);
      } catch (thrown) {
        failure ??= { thrown };
      }
    }
    await this.#ledger.unmarkBlobs(holder, destroyed);
    if (failure !== undefined) throw failure.thrown;
    return destroyed.length;
  }

  /** Checks every blob that is older than an hour. Returns how many it destroyed. */
  async sweepOrphans(): Promise<number> {
    let destroyed = 0;
    let step: string[] = [];
    const finishStep = async () => {
      const used = new Set(await this.#ledger.findUsedBlobs(step));
      destroyed += await this.#destroy(step.filter((digest) => !used.has(digest)));
      step = [];
      await setImmediate();
    };
    const putBeforeMs = this.#clock.nowUs() / 1000 - ORPHAN_AGE_MS;
    for await (const { digest } of this.#blobs.list({ putBeforeMs })) {
      if (this.#stopped) return destroyed;
      step.push(digest);
      if (step.length === STEP_BLOBS) await finishStep();
    }
    await finishStep();
    return destroyed;
  }

  /** Begins no more work and waits for running work. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled([...this.#destroying, this.#collecting]);
  }
}
