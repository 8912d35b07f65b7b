import type { Clock } from "#base/clock.ts";
import type { StoredToken } from "../../ports/access-store.ts";

/** A clock may be set, so a distant moment is checked repeatedly. */
const WAIT_MS_MAX = 3_600_000;

/**
 * Rings when a token has expired. No change of the store notifies subscribers at that moment, but a stream that was
 * opened with the token must end.
 */
export class ExpiryTimer {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #nextUs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** These and no others. */
  expectAll(tokens: Iterable<StoredToken>): void {
    const nowUs = this.#clock.nowUs();
    this.#nextUs = Number.POSITIVE_INFINITY;
    for (const { expiresUs } of tokens) {
      if (expiresUs !== undefined && expiresUs > nowUs && expiresUs < this.#nextUs) this.#nextUs = expiresUs;
    }
    this.#wait();
  }

  /** This one too. */
  expect({ expiresUs }: StoredToken): void {
    if (expiresUs === undefined || expiresUs >= this.#nextUs) return;
    this.#nextUs = expiresUs;
    this.#wait();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#nextUs === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.ceil((this.#nextUs - this.#clock.nowUs()) / 1000);
    this.#timer = setTimeout(
      () => {
        if (this.#clock.nowUs() < this.#nextUs) this.#wait();
        else this.#ring();
      },
      Math.min(Math.max(waitMs, 1), WAIT_MS_MAX),
    ).unref();
  }
}
