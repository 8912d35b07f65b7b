import type { EnvelopePoints } from "../ports/journal.ts";
import type { Points, SeriesPoints, Values } from "../types/series.ts";

const BYTES_MAX = 32 << 20;
/** How long points of a run are kept after its last watcher, for those that reconnect. */
const LINGER_MS = 30_000;
/** About the size of an envelope, a series and a text besides their content. */
const OVERHEAD_BYTES = 200;

/** Every envelope after the requested position, up to this one. */
export interface HeldPart {
  readonly envelopes: readonly EnvelopePoints[];
  readonly upTo: number;
}

interface Held extends EnvelopePoints {
  readonly run: HeldRun;
  readonly sizeBytes: number;
}

interface HeldRun {
  readonly runId: string;
  watchers: number;
  /** Every point that came after this position is here. */
  from: number;
  envelopes: Held[];
  /** When it is dropped, once it has no watcher. */
  untilMs: number;
}

/**
 * The latest points that this process wrote to watched runs, in order of arrival, for all watchers together: the
 * oldest are dropped when there are too many bytes. A cache of the journal, which knows what is missing from it.
 */
export class HeldPoints {
  readonly #bytesMax: number;
  readonly #runs = new Map<string, HeldRun>();
  /** All of them, by age; those before `#first` were dropped. */
  #queue: (Held | undefined)[] = [];
  #first = 0;
  #sizeBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Of the points that are kept, about. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** One more watches the run. No points came after `from` so far, or they are held already. */
  watch(runId: string, from: number): void {
    const run = this.#runs.get(runId);
    if (run === undefined) {
      this.#runs.set(runId, { runId, watchers: 1, from, envelopes: [], untilMs: Infinity });
    } else {
      run.watchers++;
      run.untilMs = Infinity;
    }
  }

  /** One less. */
  unwatch(runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined || --run.watchers > 0) return;
    run.untilMs = performance.now() + LINGER_MS;
    this.#expireIn(LINGER_MS);
  }

  /** Keeps the points if the run is watched. */
  offer(runId: string, position: number, series: readonly SeriesPoints[]): void {
    const run = this.#runs.get(runId);
    if (run === undefined || position <= run.from) return;
    const kept = series.map(ownSeries);
    const held = { run, position, series: kept, sizeBytes: sizeOf(kept) };
    run.envelopes.push(held);
    this.#queue.push(held);
    this.#sizeBytes += held.sizeBytes;
    while (this.#sizeBytes > this.#bytesMax) this.#dropOldest();
  }

  /**
   * The journal has so many envelopes of the run after one position, up to another. Where others are held, nothing up
   * to there is.
   */
  confirm(runId: string, after: number, upTo: number, envelopes: number): void {
    const run = this.#runs.get(runId);
    if (run === undefined || upTo <= run.from) return;
    const end = firstAfter(run.envelopes, upTo);
    if (after >= run.from && end - firstAfter(run.envelopes, after) === envelopes) return;
    run.from = upTo;
    if (end === 0) return;
    const dropped = new Set(run.envelopes.splice(0, end));
    for (const { sizeBytes } of dropped) this.#sizeBytes -= sizeBytes;
    this.#queue = this.#queue.slice(this.#first).filter((held) => held !== undefined && !dropped.has(held));
    this.#first = 0;
  }

  /**
   * What came after one position, up to another, in order; not all of it when it has more than
   * `pointsMax` points. undefined when some of it was dropped.
   */
  read(runId: string, after: number, upTo: number, pointsMax: number): HeldPart | undefined {
    const run = this.#runs.get(runId);
    if (run === undefined || after < run.from) return undefined;
    const { envelopes } = run;
    const part: EnvelopePoints[] = [];
    let points = 0;
    for (let at = firstAfter(envelopes, after); at < envelopes.length; at++) {
      const envelope = envelopes[at]!;
      if (envelope.position > upTo) break;
      if (points >= pointsMax) return { envelopes: part, upTo: part.at(-1)!.position };
      part.push(envelope);
      for (const { points: added } of envelope.series) points += added.count;
    }
    return { envelopes: part, upTo };
  }

  /** Everything held is invalid from now on. */
  reset(position: number): void {
    for (const run of this.#runs.values()) {
      run.envelopes = [];
      run.from = position;
    }
    this.#queue = [];
    this.#first = 0;
    this.#sizeBytes = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #dropOldest(): void {
    const held = this.#queue[this.#first];
    this.#queue[this.#first++] = undefined;
    if (this.#first > this.#queue.length / 2) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
    if (held === undefined) return;
    this.#sizeBytes -= held.sizeBytes;
    held.run.envelopes.shift();
    held.run.from = held.position;
  }

  /** Drops runs without a watcher for long, by the clock of performance.now(). */
  expire(nowMs: number): void {
    let nextMs = Infinity;
    for (const run of this.#runs.values()) {
      if (run.untilMs <= nowMs) this.#letGo(run);
      else nextMs = Math.min(nextMs, run.untilMs);
    }
    this.#queue = this.#queue.filter(
      (held) => held !== undefined && this.#runs.get(held.run.runId) === held.run,
    );
    this.#first = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (nextMs < Infinity) this.#expireIn(nextMs - nowMs);
  }

  #expireIn(waitMs: number): void {
    this.#timer ??= setTimeout(() => this.expire(performance.now()), waitMs + 1).unref();
  }

  #letGo(run: HeldRun): void {
    this.#runs.delete(run.runId);
    for (const { sizeBytes } of run.envelopes) this.#sizeBytes -= sizeBytes;
  }
}

/** Where those after the position begin. */
function firstAfter(envelopes: readonly EnvelopePoints[], position: number): number {
  let low = 0;
  let high = envelopes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (envelopes[middle]!.position > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Short columns are cut from larger buffers (base/codec/slab.ts), which must not live as long as these. */
function ownSeries(series: SeriesPoints): SeriesPoints {
  const { count, steps, times, nanos, values } = series.points;
  const points: Points = {
    count,
    steps: steps && own(steps),
    times: times && own(times),
    nanos: nanos && own(nanos),
    values: ownValues(values),
  };
  return { key: series.key, labels: series.labels, points };
}

function ownValues(values: Values): Values {
  switch (values.kind) {
    case "number":
      return { kind: "number", data: own(values.data) };
    case "integer":
      return { kind: "integer", data: own(values.data) };
    case "bool":
      return { kind: "bool", data: own(values.data) };
    case "text":
      return values;
  }
}

function own<T extends Float64Array | BigInt64Array | Uint16Array | Uint8Array>(column: T): T {
  return column.buffer.byteLength === column.byteLength ? column : (column.slice() as T);
}

function sizeOf(series: readonly SeriesPoints[]): number {
  let size = OVERHEAD_BYTES;
  for (const { key, labels, points } of series) {
    const { steps, times, nanos, values } = points;
    size += OVERHEAD_BYTES + 2 * key.length;
    for (const [name, value] of labels) size += OVERHEAD_BYTES + 2 * (name.length + value.length);
    size += (steps?.byteLength ?? 0) + (times?.byteLength ?? 0) + (nanos?.byteLength ?? 0);
    if (values.kind !== "text") size += values.data.byteLength;
    else for (const text of values.data) size += OVERHEAD_BYTES + 2 * text.length;
  }
  return size;
}
