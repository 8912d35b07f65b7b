import { randomBytes } from "node:crypto";
import { Seal } from "#base/seal.ts";
import { CairnError } from "#lang/errors.ts";
import type { SeriesPoints } from "../types/series.ts";
import { Ear } from "./ear.ts";
import { HeldPoints } from "./held-points.ts";
import { CHANGED, RecentRuns, type ChangedRun } from "./recent-runs.ts";
import { Turns } from "./turns.ts";

export { CHANGED };

/** How many runs are remembered with their last changes; who missed more is behind. */
const RUNS_MAX = 65_536;
/** Listeners hear at most this often; the first change after as long a silence they hear at once. */
const WAVE_MS = 50;
const EPOCH_BYTES = 6;

export interface Change {
  runId: string;
  /** Where the run lives or, once it is purged, lived. */
  namespace: string;
  /** Of CHANGED. */
  what: number;
  /** The points themselves. They may be kept for watchers, so nobody may write to them any more. */
  series?: readonly SeriesPoints[];
}

/** Those who listen to one run. */
interface Topic {
  ears: Set<Ear>;
  heard: boolean;
}

/**
 * The one place on the serving thread that knows what was acknowledged, in which order. Core notes every
 * change right after the store has it and before the caller is told, so who reads after hearing of a
 * change finds it there. Everything here is memory of this process: a change costs well below a
 * microsecond, and nothing is kept per listener but one flag.
 *
 * Positions rise by one with each change. Changes of one run are merged: it is remembered once, with
 * the position of its last change of each kind.
 */
export class Changes {
  /** Of this process: a position of another one means nothing here. */
  readonly epoch = randomBytes(EPOCH_BYTES).toString("hex");
  /** Hides positions from clients: they count the changes of all callers. */
  readonly seal = new Seal();
  readonly turns = new Turns();
  readonly points: HeldPoints;
  readonly #recent: RecentRuns;
  readonly #waveMs: number;
  #position = 0;
  #resetAt = 0;

  readonly #everything = new Set<Ear>();
  readonly #topics = new Map<string, Topic>();
  #heardTopics: Topic[] = [];
  #waves = 0;
  #waveDue = false;
  /** Something has changed that nobody listened to. */
  #isUnheard = false;
  #timer: NodeJS.Timeout | undefined;
  #lastWaveMs = -Infinity;
  #stopped: CairnError | undefined;

  constructor(options: { runsMax?: number; pointBytesMax?: number; waveMs?: number } = {}) {
    this.#waveMs = options.waveMs ?? WAVE_MS;
    this.#recent = new RecentRuns(options.runsMax ?? RUNS_MAX);
    this.points = new HeldPoints(options.pointBytesMax);
  }

  /** Of the last change. */
  get position(): number {
    return this.#position;
  }

  /** What happened after a position below this one is not known any more. */
  get floor(): number {
    return this.#recent.floor;
  }

  /** Of the last reset; 0 for none. */
  get resetAt(): number {
    return this.#resetAt;
  }

  /** Rises whenever listeners are told to look: what was found out for one of them then is good for all. */
  get wave(): number {
    return this.#waves;
  }

  /** How many runs are remembered. */
  get size(): number {
    return this.#recent.size;
  }

  note({ runId, namespace, what, series }: Change): void {
    const position = ++this.#position;
    this.#recent.note(runId, namespace, what, position);
    if (series !== undefined && this.points.active) this.points.offer(runId, position, series);
    const isHeard = this.#mark(runId);
    if (this.#everything.size > 0) this.#wave();
    else if (!isHeard) this.#isUnheard = true;
  }

  /** Everything may be different now: every position so far is behind. */
  reset(): void {
    this.#resetAt = ++this.#position;
    this.#recent.reset(this.#position);
    this.points.reset(this.#position);
    this.rouse();
  }

  /** Runs with a change of these kinds after the position, the earliest first; it must not be below `floor`. */
  since(position: number, what: number): ChangedRun[] {
    return this.#recent.since(position, what);
  }

  /** The position of the run's last change of these kinds; 0 when none is known. */
  lastOf(runId: string, what: number): number {
    return this.#recent.lastOf(runId, what);
  }

  /** Keeps the points of a run that come from now on, until `points.unwatch`. */
  watchPoints(runId: string): void {
    // None came since the last that is known of, so from there on nothing will be missing.
    this.points.watch(runId, Math.max(this.lastOf(runId, CHANGED.points), this.floor));
  }

  /**
   * Hears of changes of these runs, or of every run. From the moment of the call nothing is missed. The
   * ear closes by itself when the signal is aborted or the server stops; otherwise it must be closed.
   * `onClose` is called once.
   */
  listen(options: { runs?: Iterable<string>; signal: AbortSignal; onClose?: () => void }): Ear {
    const topics = options.runs === undefined ? undefined : new Set(options.runs);
    const onClose = (closed: Ear): void => {
      this.#everything.delete(closed);
      for (const runId of topics ?? []) this.#leave(runId, closed);
      options.onClose?.();
    };
    const ear = new Ear({ turns: this.turns, signal: options.signal, onClose });
    if (this.#isUnheard) {
      // No wave follows that would correct what was found out before.
      this.#isUnheard = false;
      this.#waves++;
    }
    if (topics === undefined) this.#everything.add(ear);
    for (const runId of topics ?? []) this.#join(runId, ear);
    ear.open();
    if (this.#stopped !== undefined) ear.close(this.#stopped);
    return ear;
  }

  /** Makes everybody look, such as when rights have changed. */
  rouse(): void {
    this.#waves++;
    for (const ear of this.#everything) ear.hear();
    for (const { ears } of this.#topics.values()) for (const ear of ears) ear.hear();
  }

  /** Ends everybody's waiting for good: the server stops. */
  stop(): void {
    this.#stopped = new CairnError("unavailable", "cannot go on: the server is stopping", {
      reason: "STOPPING",
    });
    clearTimeout(this.#timer);
    this.points.close();
    for (const ear of this.#everything) ear.close(this.#stopped);
    for (const { ears } of this.#topics.values()) for (const ear of ears) ear.close(this.#stopped);
  }

  #join(runId: string, ear: Ear): void {
    const topic = this.#topics.get(runId);
    if (topic === undefined) this.#topics.set(runId, { ears: new Set([ear]), heard: false });
    else topic.ears.add(ear);
  }

  #leave(runId: string, ear: Ear): void {
    const topic = this.#topics.get(runId);
    if (topic === undefined) return;
    topic.ears.delete(ear);
    if (topic.ears.size === 0) this.#topics.delete(runId);
  }

  /** Whether somebody listens to this run. */
  #mark(runId: string): boolean {
    const topic = this.#topics.size === 0 ? undefined : this.#topics.get(runId);
    if (topic === undefined) return false;
    if (!topic.heard) {
      topic.heard = true;
      this.#heardTopics.push(topic);
      this.#wave();
    }
    return true;
  }

  /** Many changes make one wave, so that all who listen look at the same moment and can share the work. */
  #wave(): void {
    if (this.#waveDue) return;
    this.#waveDue = true;
    const restMs = this.#lastWaveMs + this.#waveMs - performance.now();
    if (restMs <= 0) setImmediate(this.#break);
    else this.#timer = setTimeout(this.#break, restMs);
  }

  readonly #break = (): void => {
    this.#waveDue = false;
    this.#waves++;
    this.#lastWaveMs = performance.now();
    const topics = this.#heardTopics;
    this.#heardTopics = [];
    for (const topic of topics) {
      topic.heard = false;
      for (const ear of topic.ears) ear.hear();
    }
    for (const ear of this.#everything) ear.hear();
  };
}
