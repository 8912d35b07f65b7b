import { rmSync } from "node:fs";
import type { RunMark } from "#core/ports/run-changes.ts";
import type { RunIndex } from "../index.ts";
import { writeSnapshot } from "./snapshot-file.ts";

/**
 * After so many changes the next snapshot is written: a fraction of what the journal remembers, so that the last one is
 * rarely too old. A start reads the changes after it, which is fast.
 */
const CHANGES_MAX = 50_000;
/** After fewer changes it is written after this time, and at the end. */
const CHANGES_MIN = 1_000;
const AGE_MS_MAX = 600_000;
/** The first one waits at most so long for an idle second. */
const FIRST_MS_MAX = 60_000;
/** Fewer runs are read from the store as fast. */
export const SNAPSHOT_RUNS_MIN = 10_000;

/** Writes the content of an index to a file from time to time. A snapshot that cannot be written is left out. */
export class SnapshotKeeper {
  readonly #file: string;
  readonly #index: RunIndex;
  readonly #runsMin: number;
  /** The mark of the file, if that is usable. */
  #written: RunMark | undefined;
  #beganMs = performance.now();
  #writing: Promise<void> | undefined;

  constructor(options: { file: string; index: RunIndex; runsMin: number; written: RunMark | undefined }) {
    this.#file = options.file;
    this.#index = options.index;
    this.#runsMin = options.runsMin;
    this.#written = options.written;
  }

  /**
   * The file is of another journal: the index was rebuilt. The file is deleted, since its position may be reached
   * again, for example when the same copy of a store is restored twice.
   */
  discard(): void {
    this.#written = undefined;
    const remove = () => rmSync(this.#file, { force: true });
    remove();
    void this.#writing?.then(remove);
  }

  /**
   * To be called regularly. `mark` is the progress of the index. The first snapshot, of an index that was just built,
   * waits a minute at most until it is not busy: the searches after a start are slower while it is written.
   */
  tend(mark: RunMark | undefined, isIdle: boolean): void {
    const ageMs = performance.now() - this.#beganMs;
    if (this.#writing !== undefined) return;
    if (this.#written === undefined && !isIdle && ageMs < FIRST_MS_MAX) return;
    void this.#write(mark, ageMs > AGE_MS_MAX ? CHANGES_MIN : CHANGES_MAX);
  }

  /** Before the thread ends. */
  async finish(mark: RunMark | undefined): Promise<void> {
    await this.#writing;
    await this.#write(mark, CHANGES_MIN);
  }

  async #write(mark: RunMark | undefined, changesMin: number): Promise<void> {
    if (mark === undefined || mark.scanned !== undefined || this.#index.size < this.#runsMin) return;
    if (this.#written !== undefined && mark.position - this.#written.position < changesMin) return;
    this.#beganMs = performance.now();
    const records = this.#index.capture();
    this.#written = mark;
    this.#writing = writeSnapshot(this.#file, mark, records)
      // The old one stays; the next one is written when it is due.
      .catch(() => undefined)
      .finally(() => (this.#writing = undefined));
    await this.#writing;
  }
}
