import { CairnError } from "#core/errors.ts";

/**
 * How many bytes of unfinished bodies the whole server may hold at once. Each connection keeps to its
 * own limits; this bounds their sum, so that a thousand slow uploads cannot take all memory.
 */
export class ByteBudget {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Throws `exhausted`, to be repeated, and takes nothing. */
  take(bytes: number): void {
    if (this.#held + bytes > this.#bytesMax) {
      throw new CairnError("exhausted", "cannot read body: too many uploads at this moment", {
        reason: "BUSY",
        retryAfterMs: 1000,
      });
    }
    this.#held += bytes;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}
