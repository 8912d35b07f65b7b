import { withoutStack } from "#base/without-stack.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";

const RETRY_MS = 1_000;

/**
 * The queue of accepted work that waits for the storage. When the storage is slower than its clients, the
 * queue would grow without end: above a bound new work is refused as a whole, before anything of it is
 * kept, and the client sends it again.
 */
export class Backlog {
  readonly #itemsMax: number;
  readonly #bytesMax: number;
  #items = 0;
  #bytes = 0;

  constructor(
    bounds: { itemsMax: number; bytesMax: number } = {
      itemsMax: limits.backlogEnvelopesMax,
      bytesMax: limits.backlogBytesMax,
    },
  ) {
    this.#itemsMax = bounds.itemsMax;
    this.#bytesMax = bounds.bytesMax;
  }

  get items(): number {
    return this.#items;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws `unavailable` (OVERLOADED) when no more is accepted at this moment. */
  requireRoom(): void {
    if (this.#items < this.#itemsMax && this.#bytes < this.#bytesMax) return;
    throw overloaded("cannot write: too much waits for the storage at this moment");
  }

  /**
   * Throws like `requireRoom`, or counts it until the function it returns is called: one envelope, or `items` that come
   * together. The last one may exceed the bounds, or a large one would never be accepted.
   */
  enter(bytes: number, items = 1): () => void {
    this.requireRoom();
    this.#items += items;
    this.#bytes += bytes;
    return () => {
      this.#items -= items;
      this.#bytes -= bytes;
    };
  }
}

/** The server is overloaded, for any caller: the same request may work a moment later. */
export function overloaded(message: string): CairnError {
  const options = {
    reason: "OVERLOADED",
    hint: "send it again a moment later",
    retryAfterMs: RETRY_MS,
  };
  return withoutStack(() => new CairnError("unavailable", message, options));
}
