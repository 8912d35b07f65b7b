const FIRST_BYTES_MIN = 4 << 10;

/**
 * Puts pieces together as they come. Pieces are copied into one growing buffer and not kept: a client
 * that sends one byte at a time would otherwise cost a hundred bytes of bookkeeping for each. A body
 * that comes in one piece is handed out as it is.
 */
export class ByteCollector {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #owned = false;

  get length(): number {
    return this.#length;
  }

  /** The caller must not change a piece afterwards. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (this.#length === 0 && !this.#owned) {
      this.#bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    } else {
      if (!this.#owned || length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** All of it; the collector is empty afterwards. */
  finish(): Buffer {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    this.#owned = false;
    return all;
  }

  #grow(bytesMin: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES_MIN, bytesMin, 2 * this.#length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#owned = true;
  }
}
