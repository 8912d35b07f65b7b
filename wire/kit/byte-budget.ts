import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { overloaded } from "#core/quota/backlog.ts";

const RETRY_MS = 1_000;

/**
 * How many bytes of one sort the whole server may hold in memory at once, such as unfinished bodies. Each
 * connection keeps to its own limits; this bounds their sum, so that a thousand slow uploads cannot take
 * all memory. One owner gets only a share of it, so that none can use it up for all.
 */
export class ByteBudget {
  readonly #what: string;
  readonly #bytesMax: number;
  readonly #shareMax: number;
  readonly #byOwner = new Map<string, number>();
  #held = 0;

  /** `what` is used in errors, such as "request bodies". */
  constructor(what: string, bytesMax: number, shareMax: number = bytesMax * limits.principalShareMax) {
    this.#what = what;
    this.#bytesMax = bytesMax;
    this.#shareMax = shareMax;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** A holder of bytes for an owner. It costs nothing until it reserves some. */
  open(owner: string): HeldBytes {
    return new HeldBytes(this, owner);
  }

  /**
   * Throws `unavailable` (OVERLOADED) when all hold so much that these bytes do not fit, and `exhausted`
   * (QUOTA) when the owner alone does. An owner that holds nothing yet may exceed it with one piece: a piece
   * larger than the whole would otherwise be refused forever.
   */
  requireRoom(owner: string, bytes = 1): void {
    const own = this.#byOwner.get(owner) ?? 0;
    const first = own === 0 && this.#held < this.#bytesMax;
    if (first) return;
    if (this.#held + bytes > this.#bytesMax) {
      throw overloaded(`cannot accept the request: too many ${this.#what} in memory at this moment`);
    }
    if (own + bytes > this.#shareMax) {
      const message = `cannot accept the request: its caller has too many ${this.#what} in memory at this moment`;
      throw new CairnError("exhausted", message, {
        reason: "QUOTA",
        facts: { quota: "memory", limit: String(this.#shareMax) },
        hint: "wait until others of its requests are done",
        retryAfterMs: RETRY_MS,
      });
    }
  }

  /** For `HeldBytes`, which releases its bytes. */
  add(owner: string, bytes: number): void {
    this.#held += bytes;
    const own = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (own === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own);
  }
}

/** Bytes of a budget that belong to one call. */
export class HeldBytes {
  readonly #budget: ByteBudget;
  readonly #owner: string;
  #bytes = 0;

  constructor(budget: ByteBudget, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws like `requireRoom` and then takes nothing. */
  take(bytes: number): void {
    if (bytes === 0) return;
    this.#budget.requireRoom(this.#owner, bytes);
    this.#budget.add(this.#owner, bytes);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    if (bytes === 0) return;
    this.#budget.add(this.#owner, -bytes);
    this.#bytes -= bytes;
  }

  giveAll(): void {
    this.give(this.#bytes);
  }
}
