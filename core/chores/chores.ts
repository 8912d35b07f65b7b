import { randomUUID } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import type { Leases } from "../ports/leases.ts";

/** How often this process looks whether something is due. */
const TICK_MS = 1_000;
/** A core that died in the middle of a chore is replaced after this long. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** When a chore that failed is tried again, unless its turn comes earlier anyway. */
const RETRY_MS = 60_000;

/** Recurring background work. Two cores that do the same at once do no harm, only double work. */
export interface Chore {
  /** What it does, as in "cannot <name>". */
  name: string;
  everyMs: number;
  /** How long this core waits before it does it for the first time; 0 when not given. */
  firstAfterMs?: number;
  run(): Promise<unknown>;
}

interface Planned {
  chore: Chore;
  /** When to look next: to begin it, or to renew its lease while it runs. */
  dueUs: number;
  running: Promise<void> | undefined;
}

export interface ChoresParts {
  leases: Leases;
  clock: Clock;
  chores: readonly Chore[];
  /** Notified of a chore that failed; it is tried again. */
  onFailure: (chore: string, thrown: unknown) => void;
}

/**
 * Does each chore once per interval among all cores on one store. Who begins a chore holds its lease while it works and
 * then lets the lease last until the chore is due again, so that the end of the lease tells every other core when to look
 * next. A core that dies at work stops renewing, and another one begins the chore when the lease has ended.
 */
export class Chores {
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #onFailure: ChoresParts["onFailure"];
  readonly #holder = randomUUID();
  readonly #planned: Planned[];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: ChoresParts) {
    this.#leases = parts.leases;
    this.#clock = parts.clock;
    this.#onFailure = parts.onFailure;
    const nowUs = parts.clock.nowUs();
    this.#planned = parts.chores.map((chore) => ({
      chore,
      dueUs: nowUs + (chore.firstAfterMs ?? 0) * 1000,
      running: undefined,
    }));
  }

  start(): void {
    this.#timer = setInterval(() => void this.tick(), TICK_MS);
    void this.tick();
  }

  /** Does what is due by the clock, and resolves when that is done. Never rejects. */
  async tick(): Promise<void> {
    if (this.#stopped) return;
    const nowUs = this.#clock.nowUs();
    const due = this.#planned.filter(({ dueUs }) => dueUs <= nowUs);
    await Promise.all(
      due.map((planned) => {
        if (planned.running !== undefined) return this.#renew(planned);
        planned.running = this.#attempt(planned).finally(() => (planned.running = undefined));
        return planned.running;
      }),
    );
  }

  /** Begins nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const { running } of this.#planned) await running;
  }

  async #attempt(planned: Planned): Promise<void> {
    const { chore } = planned;
    const startedUs = this.#clock.nowUs();
    const endUs = startedUs + LEASE_MS * 1000;
    planned.dueUs = startedUs + RENEW_MS * 1000;
    try {
      const lease = await this.#leases.acquireLease(chore.name, this.#holder, startedUs, endUs);
      if (!lease.acquired) {
        planned.dueUs = lease.untilUs;
        return;
      }
      await chore.run();
      planned.dueUs = startedUs + chore.everyMs * 1000;
    } catch (thrown) {
      planned.dueUs = this.#clock.nowUs() + Math.min(chore.everyMs, RETRY_MS) * 1000;
      this.#onFailure(chore.name, thrown);
    }
    // When this fails the lease ends earlier, and the chore is done earlier.
    await this.#leases.renewLease(chore.name, this.#holder, planned.dueUs).catch(() => false);
  }

  /** Of a chore under way. Without it another core begins the chore when the lease ends. */
  async #renew(planned: Planned): Promise<void> {
    const nowUs = this.#clock.nowUs();
    planned.dueUs = nowUs + RENEW_MS * 1000;
    const endUs = nowUs + LEASE_MS * 1000;
    await this.#leases.renewLease(planned.chore.name, this.#holder, endUs).catch(() => false);
  }
}
