import { Code } from "@connectrpc/connect";
import type { Failure } from "../failure.ts";

export interface BackoffOptions {
  firstMs?: number;
  /** The longest pause. */
  mostMs?: number;
  /** After an answer that only a person can change. */
  refusedMs?: number;
  random?: () => number;
}

/** How long to wait between attempts: longer each time, never the same for two clients. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #refusedMs: number;
  readonly #random: () => number;
  #attempts = 0;

  constructor({
    firstMs = 200,
    mostMs = 5_000,
    refusedMs = 15_000,
    random = Math.random,
  }: BackoffOptions = {}) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
    this.#refusedMs = refusedMs;
    this.#random = random;
  }

  next(failure: Failure): number {
    const grown = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#attempts++, 20));
    const wanted = isRefusal(failure) ? this.#refusedMs : grown;
    const asked = Number(failure.facts["retry_after_ms"] ?? 0);
    // The server may ask for more, but a proxy that asks for a year is not obeyed.
    const least = Math.min(asked >= 0 ? asked : 0, 10 * this.#mostMs);
    return Math.max(least, wanted * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#attempts = 0;
  }
}

/** Whether trying again soon is of no use. */
export function isRefusal({ code }: Failure): boolean {
  return (
    code === Code.Unauthenticated ||
    code === Code.PermissionDenied ||
    code === Code.NotFound ||
    code === Code.InvalidArgument
  );
}
