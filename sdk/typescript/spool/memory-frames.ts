import { FRAME_HEAD_BYTES } from "./frame.ts";
import type { SpooledFrame } from "./frame-source.ts";

const MEMORY_BYTES_MAX = 64 << 20;
const TAKE_BYTES_MAX = 8 << 20;

export interface HeldFrame {
  kind: number;
  seq: number;
  /** Sealed, as it would be in a segment. */
  frame: Buffer;
  given: boolean;
}

/** Frames that the disk refused: limited, and the oldest are dropped. */
export class MemoryFrames {
  readonly #held = new Set<HeldFrame>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = MEMORY_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  [Symbol.iterator](): Iterator<HeldFrame> {
    return this.#held.values();
  }

  /** Returns what was dropped for it. */
  add(kind: number, seq: number, frame: Buffer): HeldFrame[] {
    this.#held.add({ kind, seq, frame: Buffer.from(frame), given: false });
    this.#bytes += frame.length;
    const dropped: HeldFrame[] = [];
    for (const held of this.#held) {
      if (this.#bytes <= this.#bytesMax) break;
      // A frame in flight may still arrive.
      if (held.given) continue;
      this.#remove(held);
      dropped.push(held);
    }
    return dropped;
  }

  /** Those that were not given yet, a few megabytes at a time. */
  take(): SpooledFrame[] | undefined {
    const frames: SpooledFrame[] = [];
    let bytes = 0;
    for (const held of this.#held) {
      if (held.given) continue;
      held.given = true;
      const { kind, seq, frame } = held;
      frames.push({ kind, seq, body: frame.subarray(FRAME_HEAD_BYTES), place: held });
      bytes += frame.length;
      if (bytes > TAKE_BYTES_MAX) break;
    }
    return frames.length > 0 ? frames : undefined;
  }

  /** False when it is no longer here. */
  delete(held: object): boolean {
    return this.#held.has(held as HeldFrame) && this.#remove(held as HeldFrame);
  }

  #remove(held: HeldFrame): boolean {
    this.#bytes -= held.frame.length;
    return this.#held.delete(held);
  }
}
