import { WorkSlots, type WorkSlotLimits } from "../../../quota/work-slots.ts";
import { networkOf } from "../address-key.ts";

interface Waiting {
  network: string;
  leave: AbortController;
}

/**
 * Checks that wait for their turn, with one bound for all of them. When it is reached, a network that has more of them
 * than another loses its newest to that other: many addresses in one network cannot fill the queue for the others.
 */
export class PasswordQueue {
  readonly #slots: WorkSlots;
  readonly #waitingMax: number;
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();

  constructor(limits: WorkSlotLimits, waitingMax: number) {
    this.#slots = new WorkSlots(limits);
    this.#waitingMax = waitingMax;
  }

  /**
   * Resolves when the check may begin, with a function to call when it is over. Throws when there is no room, when it
   * has to make room for another, and when the signal is aborted before it began.
   */
  async enter(address: string, signal: AbortSignal | undefined): Promise<() => void> {
    const network = networkOf(address);
    if (this.#slots.waiting >= this.#waitingMax) this.#makeRoom(network);
    const leave = new AbortController();
    const entry = { network, leave };
    this.#waiting.add(entry);
    try {
      const ends = signal === undefined ? leave.signal : AbortSignal.any([signal, leave.signal]);
      return await this.#slots.take(address, ends);
    } finally {
      this.#waiting.delete(entry);
    }
  }

  #makeRoom(network: string): void {
    const counts = new Map<string, number>();
    for (const entry of this.#waiting) counts.set(entry.network, (counts.get(entry.network) ?? 0) + 1);
    const [most, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [network, 0]);
    // With the new check its own network may have as many: then there is no gain.
    if (count <= (counts.get(network) ?? 0) + 1) throw new Error("too many are waiting");
    const newest = [...this.#waiting].findLast((entry) => entry.network === most)!;
    this.#waiting.delete(newest);
    newest.leave.abort();
  }
}
