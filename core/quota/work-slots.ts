import { CairnError } from "#lang/errors.ts";

export interface WorkSlotLimits {
  /** Of one owner at once. */
  perOwnerMax: number;
  /** Of all owners together. */
  allMax: number;
  /** Of one owner, waiting for a slot. */
  waitingPerOwnerMax: number;
}

interface Owner {
  running: number;
  waiting: Waiter[];
}

interface Waiter {
  begin(): void;
}

const RETRY_MS = 1_000;

/**
 * Limits how much expensive work is done at once. Requests of one owner above its share wait, so that they neither
 * fill the queues of the storage, where the requests of others would wait behind them, nor the memory with
 * unfinished answers. When all slots are taken, owners get the next free one in turn.
 */
export class WorkSlots {
  readonly #limits: WorkSlotLimits;
  readonly #owners = new Map<string, Owner>();
  #running = 0;

  constructor(limits: WorkSlotLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    let waiting = 0;
    for (const owner of this.#owners.values()) waiting += owner.waiting.length;
    return waiting;
  }

  /**
   * Resolves when the work may begin, with a function to call at the end (may be called again). Throws
   * `exhausted` (QUOTA) when the owner has too much waiting already, and the signal's reason when it is
   * aborted before the work began.
   */
  take(name: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const owner = this.#ownerOf(name);
      if (owner.waiting.length >= this.#limits.waitingPerOwnerMax) throw this.#refusal();
      const leave = (): void => {
        owner.waiting.splice(owner.waiting.indexOf(waiter), 1);
        this.#forgetIdle(name, owner);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        begin: () => {
          signal.removeEventListener("abort", leave);
          this.#running++;
          owner.running++;
          let over = false;
          resolve(() => {
            if (over) return;
            over = true;
            this.#running--;
            owner.running--;
            this.#forgetIdle(name, owner);
            this.#beginNext();
          });
        },
      };
      if (this.#mayBegin(owner)) waiter.begin();
      else {
        owner.waiting.push(waiter);
        signal.addEventListener("abort", leave);
      }
    });
  }

  #mayBegin({ running }: Owner): boolean {
    return running < this.#limits.perOwnerMax && this.#running < this.#limits.allMax;
  }

  /** The owner that began work last is checked last next time. */
  #beginNext(): void {
    for (const [name, owner] of this.#owners) {
      if (owner.waiting.length === 0 || !this.#mayBegin(owner)) continue;
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      owner.waiting.shift()!.begin();
      return;
    }
  }

  #ownerOf(name: string): Owner {
    let owner = this.#owners.get(name);
    if (owner === undefined) this.#owners.set(name, (owner = { running: 0, waiting: [] }));
    return owner;
  }

  #forgetIdle(name: string, { running, waiting }: Owner): void {
    if (running === 0 && waiting.length === 0) this.#owners.delete(name);
  }

  #refusal(): CairnError {
    const { waitingPerOwnerMax } = this.#limits;
    const message = `cannot accept the request: its caller has ${waitingPerOwnerMax} expensive requests waiting`;
    return new CairnError("exhausted", message, {
      reason: "QUOTA",
      facts: { quota: "work", limit: String(waitingPerOwnerMax) },
      hint: "wait for the answers before asking for more",
      retryAfterMs: RETRY_MS,
    });
  }
}
