import { CairnError } from "#lang/errors.ts";
import type { Turns } from "./turns.ts";

/**
 * A subscription to Changes. It remembers that something happened until the next wait, so nothing is lost
 * between two waits, and it costs one flag however much happens meanwhile.
 */
export class Subscription {
  readonly #turns: Turns;
  readonly #onClose: (subscription: Subscription) => void;
  readonly #signal: AbortSignal;
  /** Something happened since the last wait ended. */
  #isNotified = false;
  #closed: CairnError | undefined;
  #waiting: { settle(notified: boolean): void; fail(error: CairnError): void } | undefined;

  constructor(parts: { turns: Turns; signal: AbortSignal; onClose(subscription: Subscription): void }) {
    this.#turns = parts.turns;
    this.#onClose = parts.onClose;
    this.#signal = parts.signal;
  }

  /** Closes by itself when the signal is aborted, also if it was already. */
  open(): void {
    this.#signal.addEventListener("abort", this.#abort);
    if (this.#signal.aborted) this.#abort();
  }

  /**
   * True once something happened, also if it did before the call; false after `quietMs` of nothing.
   * Rejects with `aborted` by the signal and `unavailable` when the server stops. One wait at
   * a time.
   */
  wait(quietMs?: number): Promise<boolean> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const timer = quietMs === undefined ? undefined : setTimeout(() => settle(false), quietMs);
      const settle = (notified: boolean): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
        if (notified) this.#isNotified = false;
        resolve(notified);
      };
      const fail = (error: CairnError): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
        reject(error);
      };
      this.#waiting = { settle, fail };
      if (this.#isNotified) this.#turns.push(this.#wake);
    });
  }

  /** Called by Changes. */
  notify(): void {
    if (this.#isNotified) return;
    this.#isNotified = true;
    if (this.#waiting !== undefined) this.#turns.push(this.#wake);
  }

  /** It is not notified any more. May be called twice. */
  close(error = new CairnError("aborted", "cannot continue watching: the watch has ended")): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#signal.removeEventListener("abort", this.#abort);
    this.#onClose(this);
    this.#waiting?.fail(error);
  }

  readonly #abort = (): void => {
    const cause: unknown = this.#signal.reason;
    this.close(new CairnError("aborted", "cannot continue watching: the client disconnected", { cause }));
  };

  readonly #wake = (): void => {
    if (this.#isNotified) this.#waiting?.settle(true);
  };
}
