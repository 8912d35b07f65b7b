import { randomUUID } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import type { Leases } from "../ports/leases.ts";

/** How often this process looks whether something is due. */
const TICK_MS = 1_000;
/** After this long another core takes over a chore from one that died. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** When a chore that failed is retried, unless it is due earlier anyway. */
const RETRY_MS = 60_000;

/** Recurring background work. Two cores that do the same at once only waste work. */
export interface Chore {
  /** What it does, as in "cannot <name>". */
  name: string;
  everyMs: number;
  /** How long this core waits from `start` on before it does it for the first time; 0 when not given. */
  firstAfterMs?: number;
  run(): Promise<unknown>;
}

interface Planned {
  chore: Chore;
  /** When to look next, by the steady time: to begin it, or to renew its lease while it runs. */
  dueMs: number;
  running: Promise<void> | undefined;
}

export interface ChoresParts {
  leases: Leases;
  clock: Clock;
  /** A monotonic clock in milliseconds; performance.now() when not given. */
  steadyMs?: () => number;
  chores: readonly Chore[];
  /** Notified of a chore that failed; it is retried. */
  onFailure: (chore: string, thrown: unknown) => void;
}

/**
 * Does each chore once per interval among all cores on one store. The core that does a chore holds its lease while it
 * works and then extends the lease until the chore is due again, so that every other core checks when the lease ends.
 * A core that dies at work stops renewing, and another one begins the chore when the lease has ended.
 *
 * Leases end by the clock, which all cores share. What this core plans for itself is in steady time: a clock that was set
 * back does not advance until time has caught up, and chores must not wait for that.
 */
export class Chores {
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #steadyMs: () => number;
  readonly #onFailure: ChoresParts["onFailure"];
  readonly #holder = randomUUID();
  readonly #planned: Planned[];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: ChoresParts) {
    this.#leases = parts.leases;
    this.#clock = parts.clock;
    this.#steadyMs = parts.steadyMs ?? (() => performance.now());
    this.#onFailure = parts.onFailure;
    this.#planned = parts.chores.map((chore) => ({ chore, dueMs: 0, running: undefined }));
    this.#plan();
  }

  start(): void {
    this.#plan();
    this.#timer = setInterval(() => void this.tick(), TICK_MS);
    void this.tick();
  }

  /** Does the chores that are due, and resolves when they are done. Never rejects. */
  async tick(): Promise<void> {
    if (this.#stopped) return;
    const nowMs = this.#steadyMs();
    const due = this.#planned.filter(({ dueMs }) => dueMs <= nowMs);
    await Promise.all(
      due.map((planned) => {
        if (planned.running !== undefined) return this.#renew(planned);
        planned.running = this.#attempt(planned).finally(() => (planned.running = undefined));
        return planned.running;
      }),
    );
  }

  /** Begins no more chores and waits for running ones. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const { running } of this.#planned) await running;
  }

  #plan(): void {
    const nowMs = this.#steadyMs();
    for (const planned of this.#planned) planned.dueMs = nowMs + (planned.chore.firstAfterMs ?? 0);
  }

  async #attempt(planned: Planned): Promise<void> {
    const { chore } = planned;
    const startedUs = this.#clock.nowUs();
    const startedMs = this.#steadyMs();
    planned.dueMs = startedMs + RENEW_MS;
    let endUs: number;
    try {
      const untilUs = startedUs + LEASE_MS * 1000;
      const lease = await this.#leases.acquireLease(chore.name, this.#holder, startedUs, untilUs);
      if (!lease.acquired) {
        planned.dueMs = startedMs + (lease.untilUs - startedUs) / 1000;
        return;
      }
      await chore.run();
      planned.dueMs = startedMs + chore.everyMs;
      endUs = startedUs + chore.everyMs * 1000;
    } catch (thrown) {
      const retryMs = Math.min(chore.everyMs, RETRY_MS);
      planned.dueMs = this.#steadyMs() + retryMs;
      endUs = this.#clock.nowUs() + retryMs * 1000;
      this.#onFailure(chore.name, thrown);
    }
    // When this fails the lease ends earlier, and the chore is done earlier.
    await this.#leases.renewLease(chore.name, this.#holder, endUs).catch(() => false);
  }

  /** Of a running chore. Without it another core begins the chore when the lease ends. */
  async #renew(planned: Planned): Promise<void> {
    planned.dueMs = this.#steadyMs() + RENEW_MS;
    const endUs = this.#clock.nowUs() + LEASE_MS * 1000;
    await this.#leases.renewLease(planned.chore.name, this.#holder, endUs).catch(() => false);
  }
}
