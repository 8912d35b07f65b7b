import type { JournalChange, JournalReader } from "../ports/journal.ts";

/** Changes of another process are known here after this time: nothing wakes one process when another has written. */
const POLL_MS = 500;
/** Between two reads that callers can cause without a credential. */
const REST_MS = 20;

/** Gets changes in their order; undefined for "anything may have changed". Changes may be repeated. */
export type Follow = (changes: readonly JournalChange[] | undefined) => Promise<void> | void;

export interface FollowerOptions {
  pollMs?: number;
  restMs?: number;
}

/**
 * Keeps caches up to date with the journal: they get changes of another process within a second, and at once after
 * `catchUp`. Caches follow rare kinds only (see CHANGED), so that polling costs next to nothing.
 *
 * When a cache could not follow, because the store did not answer, the next read passes the same changes again.
 */
export class Follower {
  readonly #journal: JournalReader;
  readonly #restMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #followers: { kinds: number; follow: Follow }[] = [];
  #secret = "";
  #position = 0;
  /** The read that has not begun yet. */
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  #lookedMs = -Infinity;
  #shared: Promise<void> | undefined;

  constructor(journal: JournalReader, options: FollowerOptions = {}) {
    this.#journal = journal;
    this.#restMs = options.restMs ?? REST_MS;
    // If the journal cannot be read, the next poll tries again.
    const poll = () => void this.catchUp().catch(() => undefined);
    this.#timer = setInterval(poll, options.pollMs ?? POLL_MS).unref();
  }

  /** From now on. */
  follow(kinds: number, follow: Follow): void {
    this.#followers.push({ kinds, follow });
  }

  /** When this resolves, every cache has the changes acknowledged before the call. Throws when one could not follow. */
  catchUp(): Promise<void> {
    // A read that has begun may have missed it; one that has not serves all callers that wait for it.
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => {
        this.#next = undefined;
        return this.#look();
      });
      this.#last = this.#next.catch(() => undefined);
    }
    return this.#next;
  }

  /** The same for calls that need no credential: however many there are, they share one read, with a pause before it. */
  catchUpAfterRest(): Promise<void> {
    this.#shared ??= this.#rest().then(() => {
      this.#shared = undefined;
      return this.catchUp();
    });
    return this.#shared;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    this.#lookedMs = performance.now();
    const kinds = this.#followers.reduce((all, one) => all | one.kinds, 0);
    const part = await this.#journal.changesSince(this.#secret === "" ? undefined : this.#position, kinds);
    const isKnown = part.secret === this.#secret && part.floor <= this.#position;
    for (const one of this.#followers) {
      const changes = part.changes.filter(({ what }) => (what & one.kinds) !== 0);
      if (!isKnown) await one.follow(undefined);
      else if (changes.length > 0) await one.follow(changes);
    }
    this.#secret = part.secret;
    this.#position = part.position;
  }

  async #rest(): Promise<void> {
    const restMs = this.#lookedMs + this.#restMs - performance.now();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}
