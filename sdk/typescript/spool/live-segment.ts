import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { SEGMENT_HEAD_BYTES } from "./frame.ts";

/** A segment that this process writes and reads. */
export class LiveSegment {
  readonly path: string;
  readonly number: number;
  #fd: number | undefined;
  length = 0;
  /** Up to where its frames were given to the delivery. */
  readTo = SEGMENT_HEAD_BYTES;
  /** Frames in it, and those of them that need not be kept. */
  written = 0;
  given = 0;
  resolved = 0;
  /** The numbers of its envelopes; 0 when there are none. */
  firstSeq = 0;
  lastSeq = 0;

  /** Begins with `head`. Throws when it cannot be made, and leaves nothing then. */
  constructor(path: string, number: number, head: Buffer) {
    this.path = path;
    this.number = number;
    this.#fd = openSync(path, "ax", 0o600);
    try {
      this.#write(head);
    } catch (thrown) {
      this.finish();
      this.remove();
      throw thrown;
    }
  }

  /** Whether nothing more is written to it. */
  get finished(): boolean {
    return this.#fd === undefined;
  }

  append(frame: Buffer, seq: number): void {
    this.#write(frame);
    this.written++;
    if (seq === 0) return;
    if (this.firstSeq === 0) this.firstSeq = seq;
    this.lastSeq = seq;
  }

  #write(bytes: Buffer): void {
    try {
      let done = writeSync(this.#fd!, bytes);
      // Only a disk that is full takes less than all; then this throws.
      while (done < bytes.length) done += writeSync(this.#fd!, bytes, done);
      this.length += bytes.length;
    } catch (thrown) {
      this.#takeBack();
      throw thrown;
    }
  }

  /** A partial frame would precede the next one; where it stays, readers skip it. */
  #takeBack(): void {
    try {
      ftruncateSync(this.#fd!, this.length);
    } catch {
      // The disk is gone.
    }
  }

  sync(): void {
    if (this.#fd !== undefined) fdatasyncSync(this.#fd);
  }

  /** Bytes that were written and not read yet; empty when there are none. Throws when the file is gone. */
  readNew(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length - this.readTo);
    if (bytes.length === 0) return bytes;
    const fd = openSync(this.path, "r");
    try {
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(fd, bytes, done, bytes.length - done, this.readTo + done);
        if (count === 0) break;
        done += count;
      }
      this.readTo = this.length;
      return bytes.subarray(0, done);
    } finally {
      closeSync(fd);
    }
  }

  /** Nothing more will be written. It is synced in the background. */
  finish(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    fdatasync(fd, () => closeSync(fd));
  }

  /** The same, and synced when it returns. */
  finishNow(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    try {
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  remove(): void {
    try {
      unlinkSync(this.path);
    } catch {
      // Another process was faster.
    }
  }
}
