import { limits } from "#lang/limits.ts";
import { messageTooLarge } from "./error.ts";

/** What gRPC, gRPC-Web and Connect streams put around a message: one byte of flags, four of length. */
export const FRAME_HEAD = 5;

interface Frame {
  flags: number;
  data: Uint8Array;
}

export function isCompressed(flags: number): boolean {
  return (flags & 1) === 1;
}

export function frameOf(flags: number, data: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD + data.length);
  frame[0] = flags;
  frame.writeUInt32BE(data.length, 1);
  frame.set(data, FRAME_HEAD);
  return frame;
}

const KEPT_BYTES_MIN = 4 << 10;

/**
 * Cuts a stream of bytes into frames. A frame whose header has too large a size is refused before it is received. The
 * received part of a frame is kept in one piece: chunks of one byte each would take a hundred times as much.
 */
export class Frames {
  /** From `#start` to `#end`; behind the end there may be room for more. */
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** Whether the buffer was made here, so that more may be written to it. */
  #own = false;
  #head: { flags: number; length: number } | undefined;

  /** Whether part of a frame is waiting for the rest. */
  get pending(): boolean {
    return this.#end > this.#start || this.#head !== undefined;
  }

  add(chunk: Uint8Array): void {
    if (this.#start === this.#end) {
      this.#bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#start = 0;
      this.#end = chunk.byteLength;
      this.#own = false;
      return;
    }
    const end = this.#end + chunk.byteLength;
    if (!this.#own || end > this.#bytes.length) this.#grow(chunk.byteLength);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.byteLength;
  }

  /** undefined until the next frame is complete. */
  next(): Frame | undefined {
    if (this.#head === undefined) {
      if (this.#end - this.#start < FRAME_HEAD) return undefined;
      const head = this.#take(FRAME_HEAD);
      const length = head.readUInt32BE(1);
      if (length > limits.messageBytesMax) throw messageTooLarge();
      this.#head = { flags: head[0]!, length };
    }
    const { flags, length } = this.#head;
    if (this.#end - this.#start < length) return undefined;
    this.#head = undefined;
    return { flags, data: this.#take(length) };
  }

  /** Returned bytes are never overwritten: writes only go after them. */
  #take(size: number): Buffer {
    const taken = this.#bytes.subarray(this.#start, this.#start + size);
    this.#start += size;
    return taken;
  }

  #grow(more: number): void {
    const kept = this.#end - this.#start;
    const grown = Buffer.allocUnsafeSlow(Math.max(KEPT_BYTES_MIN, kept + more, 2 * kept));
    grown.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = grown;
    this.#start = 0;
    this.#end = kept;
    this.#own = true;
  }
}
