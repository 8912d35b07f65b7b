import { CairnError } from "#lang/errors.ts";

interface Waiter {
  readonly position: number;
  readonly open: () => void;
  readonly timer: NodeJS.Timeout;
}

/** Holds back those who need a position that has not been reached yet. */
export class PositionGate {
  readonly #deadlineMs: number;
  #reached = 0;
  #waiters: Waiter[] = [];

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** undefined when the position has been reached. Rejects with `unavailable` after the deadline. */
  wait(position: number): Promise<void> | undefined {
    if (position <= this.#reached) return undefined;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(this.#late(position));
      }, this.#deadlineMs);
      const waiter = { position, open: resolve, timer };
      this.#waiters.push(waiter);
    });
  }

  /** Positions never go back. */
  reach(position: number): void {
    this.#reached = Math.max(this.#reached, position);
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.position <= this.#reached);
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > this.#reached);
    for (const waiter of ready) {
      clearTimeout(waiter.timer);
      waiter.open();
    }
  }

  #late(position: number): CairnError {
    return new CairnError(
      "unavailable",
      `cannot search runs: change ${position} has not arrived within ${this.#deadlineMs / 1000} s`,
      {
        reason: "SEARCH_BEHIND",
        hint: "try again; if it stays so, restart the server",
        facts: { reached: String(this.#reached) },
      },
    );
  }
}
