import { limits } from "#lang/limits.ts";
import type { MetricKey } from "../ports/point-store.ts";

/** What is known of one metric key over several runs. */
export interface RunKey {
  readonly key: string;
  seriesCount: number;
  hasLabels: boolean;
  /** Some of its series are not texts. */
  hasNumbers: boolean;
  runCount: number;
  /** Points that restarts replaced. */
  replacedCount: number;
}

export interface RunKeys {
  keys: RunKey[];
  /** Existing runs; without a time when none of their series has one. */
  runs: { runId: string; firstTimeUs: number | undefined }[];
  /** There are more series than were read, or more keys than fit into an answer. */
  truncated: boolean;
}

/** Size of one key in the answer, besides its name. */
const KEY_BYTES = 32;

/** Gathers the keys of one run after the other, within the limits. */
export class KeysOfRuns {
  readonly #keys = new Map<string, RunKey>();
  readonly #runs: RunKeys["runs"] = [];
  readonly #perRunMax: number;
  #bytesLeft: number = limits.pageBytesMax;
  #truncated = false;
  #ofRun = 0;
  #ofAll = 0;
  #keysOfRun = new Set<string>();

  constructor(perRunMax: number) {
    this.#perRunMax = perRunMax;
  }

  begin(runId: string): void {
    this.#ofRun = 0;
    this.#keysOfRun = new Set();
    this.#runs.push({ runId, firstTimeUs: undefined });
  }

  /** How many more series of this run may be read. */
  room(): number {
    return Math.min(this.#perRunMax - this.#ofRun, limits.keySeriesMax - this.#ofAll);
  }

  cut(): void {
    this.#truncated = true;
  }

  /** Some series of a key; the others may come later. */
  add({ key, seriesCount, hasLabels, hasNumbers, replacedCount, firstTimeUs }: MetricKey): void {
    this.#ofRun += seriesCount;
    this.#ofAll += seriesCount;
    const run = this.#runs.at(-1)!;
    if (firstTimeUs !== undefined) run.firstTimeUs = Math.min(run.firstTimeUs ?? Infinity, firstTimeUs);
    const known = this.#keys.get(key) ?? this.#open(key);
    if (known === undefined) return;
    known.seriesCount += seriesCount;
    known.replacedCount += replacedCount;
    known.hasLabels ||= hasLabels;
    known.hasNumbers ||= hasNumbers;
    if (!this.#keysOfRun.has(key)) known.runCount++;
    this.#keysOfRun.add(key);
  }

  /** undefined when it has no room. */
  #open(key: string): RunKey | undefined {
    this.#bytesLeft -= KEY_BYTES + Buffer.byteLength(key);
    if (this.#bytesLeft < 0) {
      this.cut();
      return undefined;
    }
    const opened = {
      key,
      seriesCount: 0,
      hasLabels: false,
      hasNumbers: false,
      runCount: 0,
      replacedCount: 0,
    };
    this.#keys.set(key, opened);
    return opened;
  }

  all(): RunKeys {
    return { keys: [...this.#keys.values()], runs: this.#runs, truncated: this.#truncated };
  }
}
