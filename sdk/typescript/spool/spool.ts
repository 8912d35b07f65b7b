import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encodeFrame, FRAME_KIND, segmentHead, type Frame } from "./frame.ts";
import type { FrameSource, SpooledFrame } from "./frame-source.ts";
import { LiveSegment } from "./live-segment.ts";
import { MemoryFrames } from "./memory-frames.ts";
import { writeOwner, type Owner } from "./owner.ts";
import { readFrames } from "./read-segment.ts";
import { segmentPath } from "./segments.ts";
import { setAside, spooledFilePath, type Refusal } from "./set-aside.ts";

const SEGMENT_BYTES_MAX = 8 << 20;
const SPOOL_BYTES_MAX = 1 << 30;
const DISK_RETRY_MS = 2_000;

export interface SpoolOptions {
  /** Where all writers have their folders. */
  spool: string;
  owner: Owner;
  /** The body of the open frame, which every segment begins with. */
  open: Uint8Array;
  bytesMax?: number | undefined;
  segmentBytesMax?: number | undefined;
  memoryBytesMax?: number | undefined;
  /** Sync after every frame, or when a segment is finished. */
  sync: "every" | "segment";
  /** Called when the disk fails, when it works again, and for dropped frames. */
  onEvent(event: SpoolEvent): void;
}

export type SpoolEvent =
  | { kind: "disk-failed"; folder: string; error: Error }
  | { kind: "disk-back"; folder: string }
  | { kind: "lost"; why: "cap" | "memory" | "gone"; envelopes: number; others: number };

/** How much waits to be delivered. */
export interface Waiting {
  envelopes: number;
  /** Uploads and sources. */
  others: number;
}

/**
 * The spool of this process for one run: frames go to the end, the delivery reads them from the front. While the
 * disk fails they are held in memory, and appending works as before.
 */
export class Spool implements FrameSource {
  readonly folder: string;
  readonly writer: string;
  readonly #options: SpoolOptions;
  readonly #segments: LiveSegment[] = [];
  readonly #memory: MemoryFrames;
  readonly #waiting: Waiting = { envelopes: 0, others: 0 };
  #lastNumber = 0;
  #diskFailedAt = -Infinity;
  #onDisk = false;
  #failing = false;
  #asideCount = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.writer = options.owner.writer;
    this.folder = join(options.spool, this.writer);
    this.#memory = new MemoryFrames(options.memoryBytesMax);
    this.#toDisk(() => this.#current());
  }

  get waiting(): Readonly<Waiting> {
    return this.#waiting;
  }

  /** Whether what is appended now outlives the process. */
  get isOnDisk(): boolean {
    return !this.#failing;
  }

  /** How many frames the server refused for good. */
  get asideCount(): number {
    return this.#asideCount;
  }

  /** `frame` was sealed by its writer and may be reused when this returns. Never throws. */
  append(kind: number, seq: number, frame: Buffer): void {
    this.#count(kind, 1);
    if (this.#failing && !this.#retryDisk()) {
      this.#hold(kind, seq, frame);
      return;
    }
    if (!this.#toDisk(() => this.#write(frame, seq))) this.#hold(kind, seq, frame);
  }

  #write(frame: Buffer, seq: number): void {
    const segment = this.#current(frame.length);
    segment.append(frame, seq);
    if (this.#options.sync === "every") segment.sync();
    this.#keepCap();
  }

  /** The segment to write to: the newest, or a new one when that is full. */
  #current(needed = 0): LiveSegment {
    const newest = this.#segments.at(-1);
    const max = this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
    if (newest !== undefined && !newest.finished) {
      // One that holds its open frame alone takes a frame of any size.
      if (newest.length + needed <= max || newest.written === 0) return newest;
      newest.finish();
      this.#removeIfDone(newest);
    }
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    if (!this.#onDisk) writeOwner(this.folder, this.#options.owner);
    this.#onDisk = true;
    const number = ++this.#lastNumber;
    const head = Buffer.concat([segmentHead(), encodeFrame(FRAME_KIND.open, 0, this.#options.open)]);
    const segment = new LiveSegment(segmentPath(this.folder, number), number, head);
    this.#segments.push(segment);
    return segment;
  }

  #toDisk(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.#diskFailedAt = performance.now();
      if (!this.#failing) this.#options.onEvent({ kind: "disk-failed", folder: this.folder, error });
      this.#failing = true;
      return false;
    }
  }

  #hold(kind: number, seq: number, frame: Buffer): void {
    const dropped = this.#memory.add(kind, seq, frame);
    if (dropped.length === 0) return;
    for (const one of dropped) this.#count(one.kind, -1);
    const envelopes = dropped.filter((one) => one.kind === FRAME_KIND.envelope).length;
    const others = dropped.length - envelopes;
    this.#options.onEvent({ kind: "lost", why: "memory", envelopes, others });
  }

  /** Held frames are written first. True when all of them are on disk again. */
  #retryDisk(): boolean {
    if (performance.now() - this.#diskFailedAt < DISK_RETRY_MS) return false;
    this.#diskFailedAt = performance.now();
    try {
      for (const held of this.#memory) {
        this.#write(held.frame, held.seq);
        this.#memory.delete(held);
      }
      // Without anything held this is the first sign of a disk that is back.
      this.#current();
    } catch {
      return false;
    }
    this.#failing = false;
    this.#options.onEvent({ kind: "disk-back", folder: this.folder });
    return true;
  }

  #keepCap(): void {
    let total = 0;
    for (const { length } of this.#segments) total += length;
    const max = this.#options.bytesMax ?? SPOOL_BYTES_MAX;
    while (total > max) {
      const oldest = this.#segments.find(({ given, finished }) => finished && given === 0);
      if (oldest === undefined) return;
      total -= oldest.length;
      this.#drop(oldest, "cap");
    }
  }

  /** A segment is dropped with all that was not handed to the delivery yet. */
  #drop(segment: LiveSegment, why: "cap" | "gone"): void {
    this.#segments.splice(this.#segments.indexOf(segment), 1);
    const left = segment.written - segment.given;
    const envelopes = Math.min(left, segment.lastSeq === 0 ? 0 : segment.lastSeq - segment.firstSeq + 1);
    this.#waiting.envelopes -= envelopes;
    this.#waiting.others -= left - envelopes;
    segment.remove();
    this.#options.onEvent({ kind: "lost", why, envelopes, others: left - envelopes });
  }

  read(): readonly SpooledFrame[] | undefined {
    for (let segment = this.#unread(); segment !== undefined; segment = this.#unread()) {
      const frames = this.#readSegment(segment);
      if (frames.length > 0) return frames;
    }
    // What is in memory is newer than everything on disk.
    return this.#memory.take();
  }

  #unread(): LiveSegment | undefined {
    return this.#segments.find(({ readTo, length }) => readTo < length);
  }

  #readSegment(segment: LiveSegment): SpooledFrame[] {
    let bytes: Buffer;
    try {
      bytes = segment.readNew();
    } catch {
      // It was removed. What is still being written to it would be lost, too.
      segment.finish();
      this.#onDisk = false;
      this.#drop(segment, "gone");
      return [];
    }
    const frames: SpooledFrame[] = [];
    for (const frame of readFrames(bytes, 0, this.writer).frames) {
      // The delivery has it from the run itself.
      if (frame.kind === FRAME_KIND.open) continue;
      segment.given++;
      frames.push({ ...frame, place: segment });
    }
    // Frames that the disk returned damaged will never be delivered.
    const unreadable = segment.written - segment.given;
    if (unreadable > 0) {
      segment.given += unreadable;
      segment.resolved += unreadable;
      this.#waiting.envelopes -= unreadable;
      this.#options.onEvent({ kind: "lost", why: "gone", envelopes: unreadable, others: 0 });
    }
    return frames;
  }

  resolve(frame: SpooledFrame): void {
    if (frame.place instanceof LiveSegment) {
      frame.place.resolved++;
      this.#count(frame.kind, -1);
      this.#removeIfDone(frame.place);
    } else if (this.#memory.delete(frame.place)) {
      this.#count(frame.kind, -1);
    }
  }

  #removeIfDone(segment: LiveSegment): void {
    if (!segment.finished || segment.resolved < segment.written) return;
    segment.remove();
    const at = this.#segments.indexOf(segment);
    if (at >= 0) this.#segments.splice(at, 1);
  }

  #count(kind: number, by: number): void {
    if (kind === FRAME_KIND.envelope) this.#waiting.envelopes += by;
    else this.#waiting.others += by;
  }

  setAside(frame: Frame, refusal: Refusal): string {
    this.#asideCount++;
    return setAside(this.folder, frame, refusal);
  }

  filePath(sha256: string): string {
    return spooledFilePath(this.folder, sha256);
  }

  /** Everything that was appended outlives a power loss when this returns; best effort on a disk that fails. */
  sync(): void {
    try {
      this.#segments.at(-1)?.sync();
    } catch {
      // The next append reports it.
    }
  }

  /** Nothing more is appended. The folder is removed when nothing in it is needed. */
  close(): void {
    try {
      this.#segments.at(-1)?.finishNow();
    } catch {
      // It stays as far as it was written.
    }
    if (this.#waiting.envelopes + this.#waiting.others > 0) return;
    this.#remove();
  }

  /** Nothing of it is needed. */
  discard(): void {
    this.#asideCount = 0;
    for (const segment of this.#segments) segment.finish();
    this.#remove();
  }

  #remove(): void {
    for (const segment of this.#segments.splice(0)) segment.remove();
    if (this.#asideCount > 0 || !this.#onDisk) return;
    try {
      rmSync(join(this.folder, "files"), { recursive: true, force: true });
      rmSync(join(this.folder, "owner.json"), { force: true });
      rmdirSync(this.folder);
    } catch {
      // What is left is empty, and sync removes it.
    }
  }
}
