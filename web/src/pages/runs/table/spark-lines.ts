import { BoundedMap } from "#base/bounded-map.ts";
import { Axis, Form, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { doublesOf, valuesOf } from "#sdk/series.ts";
import { cairn } from "../../../data/server.ts";

/** Points of a sparkline: more would not be visible. */
const BUCKETS = 60;
const KEPT_MAX = 5_000;
/** Rows that scroll by quickly need no line. */
const WAIT_MS = 60;
/** The sparkline of a job that logs all the time is updated at most this often. */
const LIVE_WAIT_MS = 1_000;
const AT_ONCE_MAX = 200;

export interface SparkLine {
  x: Float64Array;
  y: Float64Array;
}

const EMPTY: SparkLine = { x: new Float64Array(), y: new Float64Array() };

/** Sparklines of the visible rows, read in one call per key and cached while the page is open. */
export class SparkLines {
  readonly #asked = new Set<string>();
  readonly #kept = new BoundedMap<string, SparkLine>(KEPT_MAX, (name) => this.#asked.delete(name));
  readonly #listeners = new Set<() => void>();
  #wanted = new Map<string, Set<string>>();
  #seen: { runIds: readonly string[]; keys: readonly string[] } = { runIds: [], keys: [] };
  #timer: ReturnType<typeof setTimeout> | undefined;
  version = 0;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Undefined while it is loading; empty for a run without that metric. */
  find(runId: string, key: string): SparkLine | undefined {
    return this.#kept.get(nameOf(runId, key));
  }

  /** Sets the visible rows; pending requests of other rows are dropped. */
  want(runIds: readonly string[], keys: readonly string[], waitMs = WAIT_MS): void {
    this.#seen = { runIds, keys };
    this.#wanted = new Map();
    for (const key of keys) {
      const missing = runIds.filter((id) => !this.#asked.has(nameOf(id, key)));
      if (missing.length > 0) this.#wanted.set(key, new Set(missing.slice(0, AT_ONCE_MAX)));
    }
    if (this.#wanted.size > 0) this.#timer ??= setTimeout(() => this.#ask(), waitMs);
  }

  /** Points arrived: the line is read again soon if it is visible, and shown unchanged until then. */
  forget(runIds: readonly string[]): void {
    const ids = new Set(runIds);
    for (const name of this.#asked) if (ids.has(name.slice(0, name.indexOf("\0")))) this.#asked.delete(name);
    this.want(this.#seen.runIds, this.#seen.keys, LIVE_WAIT_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #ask(): void {
    this.#timer = undefined;
    for (const [key, runIds] of this.#wanted) {
      for (const id of runIds) this.#asked.add(nameOf(id, key));
      void this.#read(key, [...runIds]);
    }
    this.#wanted = new Map();
  }

  async #read(key: string, runIds: readonly string[]): Promise<void> {
    try {
      const answer = await cairn.metrics.readSeries({
        series: runIds.map((id) => ({ run: { id }, key, allLabels: true })),
        axis: Axis.STEP,
        buckets: BUCKETS,
      });
      const found = new Map<string, SeriesData>();
      for (const series of answer.series) if (!found.has(series.runId)) found.set(series.runId, series);
      for (const id of runIds) this.#kept.set(nameOf(id, key), lineOf(found.get(id)));
      this.version++;
      for (const listener of this.#listeners) listener();
    } catch {
      // A failure only leaves the row without a sparkline; it is read again when the row is visible again.
      for (const id of runIds) this.#asked.delete(nameOf(id, key));
    }
  }
}

function nameOf(runId: string, key: string): string {
  return `${runId}\0${key}`;
}

function lineOf(series: SeriesData | undefined): SparkLine {
  if (series === undefined) return EMPTY;
  if (series.form === Form.BAND) return { x: doublesOf(series.bucket), y: doublesOf(series.mean) };
  const y = valuesOf(series);
  const x = doublesOf(series.steps);
  return { x: x.length === y.length ? x : y.map((_, i) => i), y };
}
