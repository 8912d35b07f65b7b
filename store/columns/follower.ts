import type { RunChanges, RunFeedBatch, RunMark } from "#core/ports/run-changes.ts";
import { CairnError } from "#lang/errors.ts";

interface Waiter {
  readonly position: number;
  readonly open: () => void;
  readonly refuse: (error: CairnError) => void;
  readonly timer: NodeJS.Timeout;
}

/** How far a follower may be behind while it is not used, and for how long. */
const BEHIND_MAX = 10_000;
const BEHIND_MS_MAX = 10_000;

const NOWHERE = { scanned: undefined, position: -1 };

/** Follows RunChanges, a part at a time, and lets searches wait for changes that it has not applied yet. */
export class Follower {
  readonly #changes: RunChanges;
  readonly #apply: (batch: RunFeedBatch) => void;
  readonly #deadlineMs: number;
  #mark: RunMark | undefined;
  /** The highest position that is waited for. */
  #wanted = 0;
  #waiters: Waiter[] = [];
  #isPulling = false;
  #isConfirmed = false;
  #pulledMs = 0;

  /** `deadlineMs` is how long a search waits while no part arrives. Errors of `apply` are not caught: half of a batch may be applied. */
  constructor(
    changes: RunChanges,
    apply: (batch: RunFeedBatch) => void,
    options: { deadlineMs: number; mark?: RunMark | undefined },
  ) {
    this.#changes = changes;
    this.#apply = apply;
    this.#deadlineMs = options.deadlineMs;
    this.#mark = options.mark;
  }

  /** Its progress. */
  get mark(): RunMark | undefined {
    return this.#mark;
  }

  /** undefined when everything acknowledged so far has been applied. Rejects with `unavailable` after the deadline. */
  catchUp(): Promise<void> | undefined {
    const position = this.#changes.position();
    if (position <= this.#reached) return undefined;
    this.#wanted = Math.max(this.#wanted, position);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(this.#late());
      }, this.#deadlineMs);
      const waiter = { position, open: resolve, refuse: reject, timer };
      this.#waiters.push(waiter);
      if (!this.#isPulling) void this.#pull();
    });
  }

  /** To be called regularly: keeps up with the journal also between searches. */
  tend(): void {
    const behind = this.#changes.position() - this.#reached;
    const isLong = performance.now() - this.#pulledMs > BEHIND_MS_MAX;
    if (behind > BEHIND_MAX || (behind > 0 && isLong)) this.catchUp()?.catch(() => undefined);
  }

  /** -1 before everything has been scanned, and before the store has accepted the first mark. */
  get #reached(): number {
    const { scanned, position } = this.#mark ?? NOWHERE;
    return scanned !== undefined || !this.#isConfirmed ? -1 : position;
  }

  async #pull(): Promise<void> {
    this.#isPulling = true;
    let next: Promise<RunFeedBatch> | undefined = this.#changes.runsSince(this.#mark);
    while (next !== undefined) {
      let batch: RunFeedBatch;
      try {
        batch = await next;
      } catch (thrown) {
        this.#refuseAll(CairnError.from(thrown));
        break;
      }
      const isBehind = batch.mark.scanned !== undefined || batch.mark.position < this.#wanted;
      // While this one is applied, the store works on the next.
      next = isBehind ? this.#changes.runsSince(batch.mark) : undefined;
      next?.catch(() => undefined);
      this.#take(batch);
    }
    this.#pulledMs = performance.now();
    this.#isPulling = false;
  }

  #refuseAll(error: CairnError): void {
    for (const waiter of this.#waiters.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.refuse(error);
    }
  }

  #take(batch: RunFeedBatch): void {
    this.#apply(batch);
    this.#mark = batch.mark;
    this.#isConfirmed = true;
    const reached = this.#reached;
    const ready = this.#waiters.filter((waiter) => waiter.position <= reached);
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > reached);
    for (const waiter of this.#waiters) waiter.timer.refresh();
    for (const waiter of ready) {
      clearTimeout(waiter.timer);
      waiter.open();
    }
  }

  /** Names no position: it counts the changes of all callers. */
  #late(): CairnError {
    return new CairnError(
      "unavailable",
      `cannot search runs: the newest changes have not arrived within ${this.#deadlineMs / 1000} s`,
      { reason: "SEARCH_BEHIND", hint: "try again; if the problem persists, restart the server" },
    );
  }
}
