import { hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import { newToken } from "#base/ids.ts";

/** As long as a token, so that one in the query or path of a URL is refused (url-token.ts), too. */
const PREFIX = "cairn_link_";
const LENGTH = "cairn_".length + 43;
const LIFE_US = 3_600_000_000;

/**
 * The secret of the link that the first start of a server prints for the browser. A browser keeps addresses that it
 * opened, so the link must not hold the token itself: its secret is exchanged for a session once, within an hour, and
 * only by the process that printed it.
 */
export class SignInLink {
  readonly text: string = newToken(PREFIX).slice(0, LENGTH);
  readonly #digest = digestOf(this.text);
  readonly #clock: Clock;
  readonly #endUs: number;
  #token: string | undefined;

  /** `token` is what the session is made from. */
  constructor(token: string, clock: Clock) {
    this.#token = token;
    this.#clock = clock;
    this.#endUs = clock.nowUs() + LIFE_US;
  }

  /** The token, at most once; undefined for anything that is not the secret, and for one that has ended. */
  take(given: string): string | undefined {
    // Takes the same time for every text.
    if (!timingSafeEqual(digestOf(given), this.#digest)) return undefined;
    const token = this.#clock.nowUs() < this.#endUs ? this.#token : undefined;
    this.#token = undefined;
    return token;
  }
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
