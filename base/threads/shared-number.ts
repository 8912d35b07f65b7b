/** A whole number that threads share. Each that has its buffer sees what another has set, without a message. */
export class SharedNumber {
  readonly buffer: SharedArrayBuffer;
  readonly #cell: BigInt64Array;

  constructor(buffer = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cell = new BigInt64Array(buffer);
  }

  get value(): number {
    return Number(Atomics.load(this.#cell, 0));
  }

  set value(value: number) {
    Atomics.store(this.#cell, 0, BigInt(value));
  }
}
