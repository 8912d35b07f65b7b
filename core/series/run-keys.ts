import { limits } from "../limits.ts";
import type { SeriesInfo } from "../model/series.ts";

/** What is known of one metric key over several runs. */
export interface RunKey {
  readonly key: string;
  seriesCount: number;
  hasLabels: boolean;
  runCount: number;
  /** Points that restarts replaced. */
  replacedCount: number;
}

export interface RunKeys {
  keys: RunKey[];
  /** Runs that are there; without a time when none of their series has one. */
  runs: { runId: string; firstTimeUs: number | undefined }[];
  /** There are more series than were looked at. */
  truncated: boolean;
}

/** Gathers the keys of one run after the other, within the limits. */
export class KeysOfRuns {
  readonly #keys = new Map<string, RunKey>();
  readonly #runs: RunKeys["runs"] = [];
  readonly #perRunMax: number;
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

  /** How many more series of this run may be looked at. */
  room(): number {
    return Math.min(this.#perRunMax - this.#ofRun, limits.keySeriesMax - this.#ofAll);
  }

  cut(): void {
    this.#truncated = true;
  }

  add({ key, labels, summary }: SeriesInfo): void {
    this.#ofRun++;
    this.#ofAll++;
    const run = this.#runs.at(-1)!;
    const timeUs = summary.first?.timeUs;
    if (timeUs !== undefined) run.firstTimeUs = Math.min(run.firstTimeUs ?? Infinity, timeUs);
    const known = this.#keys.get(key) ?? {
      key,
      seriesCount: 0,
      hasLabels: false,
      runCount: 0,
      replacedCount: 0,
    };
    known.seriesCount++;
    known.replacedCount += summary.replacedCount;
    known.hasLabels ||= labels.length > 0;
    if (!this.#keysOfRun.has(key)) known.runCount++;
    this.#keysOfRun.add(key);
    this.#keys.set(key, known);
  }

  all(): RunKeys {
    return { keys: [...this.#keys.values()], runs: this.#runs, truncated: this.#truncated };
  }
}
