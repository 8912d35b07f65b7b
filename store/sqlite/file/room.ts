import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";

const SHARE_OF_DISK = 1 / 256;
const KEPT_BYTES_MIN = 1 << 20;
const KEPT_BYTES_MAX = 8 << 20;
const PIECE_BYTES = 1 << 18;

/**
 * Space reserved for a full disk. Even deleting needs some: every change goes through the
 * write-ahead log. So there is a ballast file beside the store; it is deleted for calls that free
 * space, and written again as soon as they are done, before other writes use the space.
 *
 * Nothing here ever throws: without the ballast only a deletion may be refused.
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

  /** Whether there is enough besides the ballast for all writes. */
  get isThere(): boolean {
    const { freeBytes } = sizesOf(this.#directory);
    return freeBytes >= this.#keptBytes + (this.#keptBytes - this.#heldBytes);
  }

  /** Deletes the ballast. */
  release(): void {
    this.#heldBytes = 0;
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // Then there is no more space than before.
    }
  }

  /** Writes as much ballast as is missing and fits. */
  hold(): void {
    if (this.#heldBytes >= this.#keptBytes) return;
    try {
      const fd = openSync(this.#file, "a", 0o600);
      try {
        // Random bytes, so that no file system compresses them; not synced, because space is allocated at once.
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
      // The rest is written another time.
    }
  }
}

function sizesOf(directory: string): { freeBytes: number; totalBytes: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // If the free space is unknown, the disk does not count as full: a write will tell.
    return { freeBytes: Number.POSITIVE_INFINITY, totalBytes: 0 };
  }
}
