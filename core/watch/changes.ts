import { createHash } from "node:crypto";
import { Seal } from "#base/seal.ts";
import { CairnError } from "#lang/errors.ts";
import {
  CHANGED,
  CHANGED_RUNS,
  type JournalPart,
  type JournalReader,
  type NamespaceMove,
  type ReadJournalPoints,
} from "../ports/journal.ts";
import { Subscription } from "./subscription.ts";
import { HeldPoints, type HeldPart } from "./held-points.ts";
import { RecentRuns, type ChangedRun } from "./recent-runs.ts";
import { Turns } from "./turns.ts";

/** How many runs are remembered with their last changes; a watcher that missed more is behind. */
const RUNS_MAX = 65_536;
/**
 * Listeners are notified at most this often; of the first change after as long a silence at once. With the read of the
 * journal that comes before, a change usually waits for 50 ms at most.
 */
const WAVE_MS = 47;
/** The journal is asked this often without a wake-up, since one may be lost. With the wave and the read that is within a second. */
const POLL_MS = 900;
const EPOCH_LENGTH = 12;

export interface ChangesOptions {
  runsMax?: number;
  pointBytesMax?: number;
  waveMs?: number;
  pollMs?: number;
}

/**
 * Follows the journal and notifies subscriptions. It reads the journal while there is a subscription, and when one
 * begins; its memory is a cache.
 *
 * Changes of one run are merged: it is remembered once, with the position of its last change of each kind.
 */
export class Changes {
  readonly turns = new Turns();
  readonly points: HeldPoints;
  readonly #journal: JournalReader;
  readonly #runsMax: number;
  readonly #waveMs: number;
  readonly #pollMs: number;
  readonly #unsubscribe: () => void;
  #recent: RecentRuns;
  #secret = "";
  #epoch = "";
  #seal = new Seal("");
  #position = 0;
  #resetAt = 0;
  /** The journal may have more than is known here. */
  #isStale = true;
  /** The position from which on changes are asked for at the next time, where that is before what is known. */
  #reach = Infinity;
  #pulling: Promise<void> | undefined;

  readonly #everything = new Set<Subscription>();
  readonly #ofRuns = new Map<string, Set<Subscription>>();
  #waves = 0;
  #waveDue = false;
  #timer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #lastWaveMs = -Infinity;
  #stopped: CairnError | undefined;

  constructor(journal: JournalReader, options: ChangesOptions = {}) {
    this.#journal = journal;
    this.#runsMax = options.runsMax ?? RUNS_MAX;
    this.#waveMs = options.waveMs ?? WAVE_MS;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#recent = new RecentRuns(this.#runsMax, 0);
    this.points = new HeldPoints(options.pointBytesMax);
    this.#unsubscribe = journal.subscribe(() => {
      this.#isStale = true;
      if (this.#isListenedTo) this.#wave();
    });
  }

  /** Identifies the journal. A position of another journal is invalid here. Known after `catchUp`. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Hides positions from clients: they count the changes of all callers. */
  get seal(): Seal {
    return this.#seal;
  }

  /** Of the last change that is known. */
  get position(): number {
    return this.#position;
  }

  /** Of the last change that was acknowledged here, known or not. */
  get acknowledged(): number {
    return this.#journal.position();
  }

  /** What happened after a position below this one is not known. */
  get floor(): number {
    return this.#recent.floor;
  }

  /** Of the last reset; 0 for none. */
  get resetAt(): number {
    return this.#resetAt;
  }

  /** Rises whenever subscriptions are notified: answers made for one of them since then are valid for all. */
  get wave(): number {
    return this.#waves;
  }

  /** How many runs are remembered. */
  get size(): number {
    return this.#recent.size;
  }

  /** When this resolves, every change acknowledged before the call is known. */
  async catchUp(): Promise<void> {
    // A running read may have missed it; one that begins after it has not.
    await this.#pulling;
    if (this.#isStale || this.#pulling !== undefined) await this.#pull();
  }

  /**
   * Makes known what happened after the position, up to `upTo` at least. False when the journal itself does not know
   * one of them, or no longer.
   */
  async reachBack(position: number, upTo = position): Promise<boolean> {
    await this.catchUp();
    if (position < this.floor) this.#reach = Math.min(this.#reach, position);
    // Another process may have given them out, whose wake-up has not come yet.
    if (position < this.floor || upTo > this.#position) {
      this.#isStale = true;
      await this.catchUp();
    }
    return position >= this.floor && upTo <= this.#position;
  }

  /** Of envelopes that are no longer held, or were written elsewhere; as `Journal.readPoints`. */
  readPoints(request: ReadJournalPoints): Promise<HeldPart | undefined> {
    return this.#journal.readPoints(request);
  }

  /** Runs with a change of these kinds after the position, the earliest first; it must not be below `floor`. */
  since(position: number, what: number): ChangedRun[] {
    return this.#recent.since(position, what);
  }

  /** The position of the run's last change of these kinds; 0 when none is known. */
  lastOf(runId: string, what: number): number {
    return this.#recent.lastOf(runId, what);
  }

  /** Moves of namespaces after the position, rising; it must not be below `floor`. */
  namespaceMovesSince(position: number): readonly NamespaceMove[] {
    return this.#recent.namespaceMovesSince(position);
  }

  /** Keeps the points of a run that come from now on, until `points.unwatch`. */
  watchPoints(runId: string): void {
    // None came since the last that is known of, so from there on nothing will be missing.
    this.points.watch(runId, Math.max(this.lastOf(runId, CHANGED.points), this.floor));
  }

  /**
   * Subscribes to changes of these runs, or of every run. From the moment of the call nothing is missed. The
   * subscription closes by itself when the signal is aborted or the server stops; otherwise it must be closed.
   * `onClose` is called once.
   */
  subscribe(options: { runs?: Iterable<string>; signal: AbortSignal; onClose?: () => void }): Subscription {
    const runIds = options.runs === undefined ? undefined : new Set(options.runs);
    const onClose = (closed: Subscription): void => {
      this.#everything.delete(closed);
      for (const runId of runIds ?? []) this.#leave(runId, closed);
      options.onClose?.();
    };
    const subscription = new Subscription({ turns: this.turns, signal: options.signal, onClose });
    if (runIds === undefined) this.#everything.add(subscription);
    for (const runId of runIds ?? []) this.#join(runId, subscription);
    subscription.open();
    if (this.#stopped !== undefined) subscription.close(this.#stopped);
    else {
      this.#poll();
      if (this.#isStale) this.#wave();
    }
    return subscription;
  }

  /** Notifies every subscription, such as when rights have changed. */
  notifyAll(): void {
    this.#waves++;
    for (const subscription of this.#all()) subscription.notify();
  }

  /** Closes every subscription for good: the server stops. */
  stop(): void {
    this.#stopped = new CairnError("unavailable", "cannot continue: the server is stopping", {
      reason: "STOPPING",
    });
    this.#unsubscribe();
    clearTimeout(this.#timer);
    clearTimeout(this.#pollTimer);
    this.points.close();
    for (const subscription of this.#all()) subscription.close(this.#stopped);
  }

  /** A subscription to several runs may come several times. */
  *#all(): Generator<Subscription> {
    yield* this.#everything;
    for (const ofRun of this.#ofRuns.values()) yield* ofRun;
  }

  #join(runId: string, subscription: Subscription): void {
    const known = this.#ofRuns.get(runId);
    if (known === undefined) this.#ofRuns.set(runId, new Set([subscription]));
    else known.add(subscription);
  }

  #leave(runId: string, subscription: Subscription): void {
    const known = this.#ofRuns.get(runId);
    if (known === undefined) return;
    known.delete(subscription);
    if (known.size === 0) this.#ofRuns.delete(runId);
  }

  get #isListenedTo(): boolean {
    return this.#everything.size > 0 || this.#ofRuns.size > 0;
  }

  /** Many changes make one wave, so that all subscriptions read at the same moment and can share the work. */
  #wave(): void {
    if (this.#waveDue || this.#stopped !== undefined) return;
    this.#waveDue = true;
    const restMs = this.#lastWaveMs + this.#waveMs - performance.now();
    if (restMs <= 0) setImmediate(this.#break);
    else this.#timer = setTimeout(this.#break, restMs);
  }

  readonly #break = (): void => {
    this.#lastWaveMs = performance.now();
    void this.catchUp().then(
      () => {
        this.#waveDue = false;
        if (this.#isStale && this.#isListenedTo) this.#wave();
      },
      // The next poll, or wake-up, tries again.
      () => (this.#waveDue = false),
    );
  };

  /** Polls as long as there is a subscription. */
  #poll(): void {
    this.#pollTimer ??= setTimeout(() => {
      this.#pollTimer = undefined;
      if (!this.#isListenedTo || this.#stopped !== undefined) return;
      this.#isStale = true;
      this.#wave();
      this.#poll();
    }, this.#pollMs).unref();
  }

  #pull(): Promise<void> {
    this.#pulling ??= this.#ask().finally(() => (this.#pulling = undefined));
    return this.#pulling;
  }

  async #ask(): Promise<void> {
    const from = Math.min(this.#position, this.#reach);
    this.#isStale = false;
    this.#reach = Infinity;
    try {
      const since = this.#secret === "" ? undefined : from;
      let part = await this.#journal.changesSince(since, CHANGED_RUNS);
      const isTooOld = from < this.#position && from < part.floor;
      if (isTooOld) part = await this.#journal.changesSince(this.#position, CHANGED_RUNS);
      this.#apply(part, isTooOld ? this.#position : from);
    } catch (thrown) {
      this.#isStale = true;
      throw thrown;
    }
  }

  /** `part` has what came after `from`, which is not after what is known. */
  #apply(part: JournalPart, from: number): void {
    const isKnown = part.secret === this.#secret;
    const wasReset = this.#secret !== "" && !isKnown;
    this.#adopt(part.secret);
    if (!isKnown || part.floor > from) {
      this.#position = part.position;
      if (wasReset) this.#resetAt = part.position;
      this.#recent = new RecentRuns(this.#runsMax, part.position);
      this.points.reset(part.position);
      this.notifyAll();
      return;
    }
    if (from < this.floor) this.#recent = new RecentRuns(this.#runsMax, from);
    this.#position = part.position;
    if (part.changes.length === 0) return;
    this.#waves++;
    const notified = new Set<Subscription>(this.#everything);
    for (const { namespaceMoves } of part.changes) {
      if (namespaceMoves === undefined) continue;
      // It may have taken any run along.
      for (const subscription of this.#all()) notified.add(subscription);
      this.#recent.noteNamespaces(namespaceMoves);
    }
    for (const change of part.changes) {
      const { runId, envelopes } = change;
      if (runId === "") continue;
      this.#recent.note(change);
      if (envelopes > 0) this.points.confirm(runId, from, part.position, envelopes);
      for (const subscription of this.#ofRuns.get(runId) ?? []) notified.add(subscription);
    }
    for (const subscription of notified) subscription.notify();
  }

  #adopt(secret: string): void {
    if (secret === this.#secret) return;
    this.#secret = secret;
    this.#epoch = createHash("sha256").update(`epoch ${secret}`).digest("hex").slice(0, EPOCH_LENGTH);
    this.#seal = new Seal(secret);
  }
}
