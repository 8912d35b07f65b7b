import { limits } from "#core/limits.ts";
import { messageTooLarge } from "./error.ts";

/** What gRPC, gRPC-Web and Connect streams put around a message: one byte of flags, four of length. */
const HEAD = 5;

interface Frame {
  flags: number;
  data: Uint8Array;
}

export function isCompressed(flags: number): boolean {
  return (flags & 1) === 1;
}

export function frameOf(flags: number, data: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD + data.length);
  frame[0] = flags;
  frame.writeUInt32BE(data.length, 1);
  frame.set(data, HEAD);
  return frame;
}

/** Cuts a stream of bytes into frames. A frame that says it is too large is refused before it has come. */
export class Frames {
  #chunks: Uint8Array[] = [];
  #size = 0;
  #head: { flags: number; length: number } | undefined;

  /** Whether part of a frame is waiting for the rest. */
  get pending(): boolean {
    return this.#size > 0 || this.#head !== undefined;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** undefined until the next frame is whole. */
  next(): Frame | undefined {
    if (this.#head === undefined) {
      if (this.#size < HEAD) return undefined;
      const head = this.#take(HEAD);
      const length = head.readUInt32BE(1);
      if (length > limits.messageBytesMax) throw messageTooLarge();
      this.#head = { flags: head[0]!, length };
    }
    const { flags, length } = this.#head;
    if (this.#size < length) return undefined;
    this.#head = undefined;
    return { flags, data: this.#take(length) };
  }

  #take(size: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = all.length > size ? [all.subarray(size)] : [];
    this.#size -= size;
    return Buffer.from(all.buffer, all.byteOffset, size);
  }
}
