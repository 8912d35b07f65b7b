import { CairnError } from "#lang/errors.ts";
import type { Turns } from "./turns.ts";

/**
 * One listener of Changes. It remembers that something happened until it is asked, so nothing is lost
 * between two waits, and it costs one flag however much happens meanwhile.
 */
export class Ear {
  readonly #turns: Turns;
  readonly #onClose: (ear: Ear) => void;
  readonly #signal: AbortSignal;
  /** Something happened since the last wait ended. */
  #heard = false;
  #closed: CairnError | undefined;
  #waiting: { settle(heard: boolean): void; fail(error: CairnError): void } | undefined;

  constructor(parts: { turns: Turns; signal: AbortSignal; onClose(ear: Ear): void }) {
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
   * Rejects with `aborted` when the signal says so and `unavailable` when the server stops. One wait at
   * a time.
   */
  wait(quietMs?: number): Promise<boolean> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const timer = quietMs === undefined ? undefined : setTimeout(() => settle(false), quietMs);
      const settle = (heard: boolean): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
        if (heard) this.#heard = false;
        resolve(heard);
      };
      const fail = (error: CairnError): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
        reject(error);
      };
      this.#waiting = { settle, fail };
      if (this.#heard) this.#turns.push(this.#wake);
    });
  }

  /** Told by Changes. */
  hear(): void {
    if (this.#heard) return;
    this.#heard = true;
    if (this.#waiting !== undefined) this.#turns.push(this.#wake);
  }

  /** Nothing is remembered for it any more. Twice is as good as once. */
  close(error = new CairnError("aborted", "cannot go on watching: the watch has ended")): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#signal.removeEventListener("abort", this.#abort);
    this.#onClose(this);
    this.#waiting?.fail(error);
  }

  readonly #abort = (): void => {
    const cause: unknown = this.#signal.reason;
    this.close(new CairnError("aborted", "cannot go on watching: the client went away", { cause }));
  };

  readonly #wake = (): void => {
    if (this.#heard) this.#waiting?.settle(true);
  };
}
