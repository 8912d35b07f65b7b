import { hash, timingSafeEqual } from "node:crypto";
import { BoundedMap } from "#base/bounded-map.ts";
import type { Clock } from "#base/clock.ts";
import { newToken } from "#base/ids.ts";
import { credentialEnded } from "#core/access/book.ts";
import { OWNER, type Identity } from "#core/access/caller.ts";
import type { CreatedSession, ShownSession } from "#core/access/views.ts";

/** As long as a token, so that scanners for tokens find this, too. */
const PREFIX = "cairn_local_";
const PAGE_PREFIX = "cairn_page_";
const LENGTH = "cairn_".length + 43;
const SESSION_US = 86_400_000_000;
const SESSIONS_MAX = 1_000;

/** The content of a cookie, and the key of the page that must be sent with it. */
export type OwnerSession = Pick<CreatedSession, "secret" | "pageKey">;

/**
 * Proves that a caller can read the files of the user who started the server, where the system cannot identify local
 * callers. Made at the start and invalid after the stop.
 *
 * The owner is not a principal of the store, so that a browser with the secret gets a cookie that only this process
 * knows.
 */
export class LocalSecret {
  readonly text: string = newToken(PREFIX).slice(0, LENGTH);
  readonly #digest = digestOf(this.text);
  readonly #clock: Clock;
  /** By the digest of their secret, the oldest first. */
  readonly #sessions = new BoundedMap<string, { endUs: number; page: Buffer }>(SESSIONS_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the same time for every text. */
  is(given: string): boolean {
    return timingSafeEqual(digestOf(given), this.#digest);
  }

  /** For a day at most. */
  openSession(): OwnerSession {
    const secret = newToken(PREFIX).slice(0, LENGTH);
    const pageKey = newToken(PAGE_PREFIX);
    const endUs = this.#clock.nowUs() + SESSION_US;
    this.#sessions.set(digestOf(secret).toString("hex"), { endUs, page: digestOf(pageKey) });
    return { secret, pageKey };
  }

  /** The owner, for as long as the session lasts; undefined for what is not a session. */
  identify(shown: ShownSession): Identity | undefined {
    const key = digestOf(shown.secret).toString("hex");
    const isOpen = () => this.#clock.nowUs() < (this.#sessions.get(key)?.endUs ?? 0);
    const whileOpen = <T>(right: T): T => {
      if (!isOpen()) throw credentialEnded("the session is over");
      return right;
    };
    if (!isOpen()) return undefined;
    const { page } = this.#sessions.get(key)!;
    if ("pageKey" in shown && !timingSafeEqual(digestOf(shown.pageKey), page)) return undefined;
    const { principal, rights } = OWNER;
    return {
      principal,
      rights: {
        may: (permission, scope) => whileOpen(rights.may(permission, scope)),
        mayAnywhere: (permission) => whileOpen(rights.mayAnywhere(permission)),
        readable: () => whileOpen(rights.readable()),
        hiddenArtifacts: () => whileOpen(rights.hiddenArtifacts()),
      },
    };
  }

  /** False for what is not a session. */
  endSession(value: string): boolean {
    return this.#sessions.delete(digestOf(value).toString("hex"));
  }
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
