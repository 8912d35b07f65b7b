import { setImmediate } from "node:timers/promises";
import type { Clock } from "#base/clock.ts";
import type { ArtifactStore } from "../ports/artifact-store.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { BlobPins } from "./blob-pins.ts";

/** Younger blobs may belong to an upload whose row is still to come, in this process or after a restart. */
const ORPHAN_AGE_MS = 3_600_000;
const STEP_BLOBS = 100;

/**
 * Destroys content that no artifact has any more. In the usual case the store names it: whatever removes the
 * last artifact of a digest writes the digest down in the same transaction (`collect`). Only a crash between a
 * blob and its row leaves a blob that nothing names; those are found by looking at every blob
 * (`sweepOrphans`), in small steps between which everybody else gets their turn.
 */
export class BlobSweep {
  readonly #store: ArtifactStore;
  readonly #blobs: BlobStore;
  readonly #pins: BlobPins;
  readonly #clock: Clock;
  readonly #onFailure: (thrown: unknown) => void;
  /** What is being destroyed at this moment. */
  readonly #destroying = new Set<Promise<boolean>>();
  #collecting: Promise<void> | undefined;
  #again = false;
  #paused = 0;
  #stopped = false;

  constructor(parts: {
    store: ArtifactStore;
    blobs: BlobStore;
    pins: BlobPins;
    clock: Clock;
    onSweepFailure: (thrown: unknown) => void;
  }) {
    this.#store = parts.store;
    this.#blobs = parts.blobs;
    this.#pins = parts.pins;
    this.#clock = parts.clock;
    this.#onFailure = parts.onSweepFailure;
  }

  /**
   * As `collect`, for calls that have removed something: what they were asked for is done, and a failure here
   * concerns only the space on the disk. It is reported, and tried again by and by.
   */
  async collectSoon(): Promise<void> {
    await this.collect().catch(this.#onFailure);
  }

  /** Destroys one blob if no artifact has it; a failure as with `collectSoon`. */
  async destroySoon(digest: string): Promise<void> {
    await this.#destroyUnused(digest).catch(this.#onFailure);
  }

  /** Destroys what the store names as unused. What is held at this moment stays for the next time. */
  async collect(): Promise<void> {
    if (this.#collecting !== undefined) {
      // What was written down after the one under way has looked needs another look.
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
        if (this.#idle) return;
        const digests = await this.#store.listUnusedBlobs(STEP_BLOBS);
        const destroyed: string[] = [];
        for (const digest of digests) {
          if (await this.#destroyUnused(digest)) destroyed.push(digest);
        }
        if (destroyed.length === 0) break;
        await this.#store.forgetUnusedBlobs(destroyed);
        if (digests.length < STEP_BLOBS) break;
      }
    } while (this.#again);
  }

  /** Returns whether nobody holds it: it is either destroyed now or has an artifact. */
  async #destroyUnused(digest: string): Promise<boolean> {
    if (this.#idle) return false;
    const destroying = this.#pins.destroy(digest, async () => {
      const used = await this.#store.findUsedBlobs([digest]);
      if (used.length === 0) await this.#blobs.delete(digest);
    });
    this.#destroying.add(destroying);
    try {
      return await destroying;
    } finally {
      this.#destroying.delete(destroying);
    }
  }

  /** Looks at every blob that is older than an hour. Returns how many it destroyed. */
  async sweepOrphans(): Promise<number> {
    let destroyed = 0;
    let step: string[] = [];
    const finishStep = async () => {
      const used = new Set(await this.#store.findUsedBlobs(step));
      for (const digest of step) {
        if (used.has(digest) || !(await this.#destroyUnused(digest))) continue;
        if ((await this.#blobs.find(digest)) === undefined) destroyed++;
      }
      step = [];
      await setImmediate();
    };
    const putBeforeMs = this.#clock.nowUs() / 1000 - ORPHAN_AGE_MS;
    for await (const { digest } of this.#blobs.list({ putBeforeMs })) {
      if (this.#idle) return destroyed;
      step.push(digest);
      if (step.length === STEP_BLOBS) await finishStep();
    }
    await finishStep();
    return destroyed;
  }

  /** Destroys nothing while `work` runs: what is in the store at its start is there until its end. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#paused++;
    try {
      await Promise.allSettled(this.#destroying);
      return await work();
    } finally {
      this.#paused--;
    }
  }

  /** Begins nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled([...this.#destroying, this.#collecting]);
  }

  get #idle(): boolean {
    return this.#stopped || this.#paused > 0;
  }
}
