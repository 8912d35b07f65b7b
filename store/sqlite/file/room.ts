import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

const SHARE_OF_DISK = 1 / 256;
const KEPT_BYTES_MIN = 1 << 20;
const KEPT_BYTES_MAX = 8 << 20;
const PIECE_BYTES = 1 << 18;

/**
 * Room on the disk for the moment when it is full. Even deleting needs some: every change goes through the
 * write-ahead log. So a file of ballast lies beside the store; it is thrown off for those who come to make
 * room, and taken on again as soon as they are done, before somebody else takes the place.
 *
 * Nothing here ever throws: without the ballast a deletion may be refused, which is all.
 */
export class Room {
  readonly #directory: string;
  readonly #file: string;
  readonly #keptBytes: number;
  #heldBytes: number;

  constructor(directory: string) {
    this.#directory = directory;
    this.#file = join(directory, "reserve");
    const { totalBytes } = sizesOf(directory);
    const share = Math.round(totalBytes * SHARE_OF_DISK);
    this.#keptBytes = Math.min(KEPT_BYTES_MAX, Math.max(KEPT_BYTES_MIN, share));
    this.#heldBytes = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Whether there is enough besides the ballast for everybody to write again. */
  get isThere(): boolean {
    const { freeBytes } = sizesOf(this.#directory);
    return freeBytes >= this.#keptBytes + (this.#keptBytes - this.#heldBytes);
  }

  /** Throws off the ballast. */
  release(): void {
    this.#heldBytes = 0;
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // Then there is no more room than before.
    }
  }

  /** Takes on as much ballast as is missing and there is room for. */
  hold(): void {
    if (this.#heldBytes >= this.#keptBytes) return;
    try {
      const fd = openSync(this.#file, "a", 0o600);
      try {
        // Noise, so that no file system makes less of it; not synced, for room is set aside at once.
        const piece = randomBytes(PIECE_BYTES);
        while (this.#heldBytes < this.#keptBytes) {
          this.#heldBytes += writeSync(
            fd,
            piece,
            0,
            Math.min(PIECE_BYTES, this.#keptBytes - this.#heldBytes),
          );
        }
      } finally {
        closeSync(fd);
      }
    } catch {
      // The rest comes another time.
    }
  }
}

function sizesOf(directory: string): { freeBytes: number; totalBytes: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // A disk that cannot be asked counts as roomy: a write will tell.
    return { freeBytes: Number.POSITIVE_INFINITY, totalBytes: 0 };
  }
}
