import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type RunFeed,
  type RunFeedBatch,
  type RunFeedRow,
} from "#core/ports/run-search.ts";
import { joinObject } from "#core/model/json.ts";
import { eachSeries, type SeriesEntry } from "./catalog.ts";
import type { Db } from "./db.ts";
import type { Runs, StoredRun } from "./runs.ts";

const BATCH_RUNS = 5_000;
const BATCH_SERIES = 20_000;

/** Tells a RunSearch what changed. Batches are made inside a transaction and posted after it. */
export class Feed {
  readonly #port: RunFeed;
  readonly #db: Db;
  readonly #runs: Runs;
  readonly #purged: number[] = [];
  #position: number;
  #stale = true;

  constructor(parts: { port: RunFeed; db: Db; runs: Runs; position: number }) {
    this.#port = parts.port;
    this.#db = parts.db;
    this.#runs = parts.runs;
    this.#position = parts.position;
  }

  get position(): number {
    return this.#position;
  }

  /** Whether the other side must be told everything anew. */
  get stale(): boolean {
    return this.#stale;
  }

  /** What was told may be wrong, or was never told. */
  spoil(): void {
    this.#stale = true;
  }

  get hasPurged(): boolean {
    return this.#purged.length > 0;
  }

  purge(run: number): void {
    this.#purged.push(run);
  }

  /** Everything there is, from the beginning. `current` gives a series with what the log adds to it. */
  tellAll(current: (entry: SeriesEntry) => SeriesEntry): void {
    this.#purged.length = 0;
    this.#post({ reset: true, runs: [], metrics: undefined });
    let runs: StoredRun[] = [];
    for (const stored of this.#runs.each()) {
      if (runs.push(stored) === BATCH_RUNS) {
        this.#post({ reset: false, runs: runs.map(toRow), metrics: undefined });
        runs = [];
      }
    }
    this.#post({ reset: false, runs: runs.map(toRow), metrics: undefined });
    let entries: SeriesEntry[] = [];
    for (const entry of eachSeries(this.#db)) {
      if (entries.push(current(entry)) === BATCH_SERIES) {
        this.#post({ reset: false, runs: [], metrics: toMetrics(entries) });
        entries = [];
      }
    }
    this.#post({ reset: false, runs: [], metrics: toMetrics(entries) });
    this.#stale = false;
  }

  tell(runs: readonly StoredRun[], entries: Iterable<SeriesEntry>): void {
    this.#post({ reset: false, runs: runs.map(toRow), metrics: toMetrics([...entries]) });
  }

  #post(batch: Omit<RunFeedBatch, "position" | "purged">): void {
    const { metrics } = batch;
    const transfer =
      metrics === undefined
        ? []
        : [metrics.runs, metrics.key, metrics.label, metrics.stats].map(
            (column) => column.buffer as ArrayBuffer,
          );
    this.#port.postMessage(
      { ...batch, purged: this.#purged.splice(0), position: ++this.#position },
      transfer,
    );
  }
}

function toRow({ key, run }: StoredRun): RunFeedRow {
  const { id, namespace, name, status, notes, aliases, createdUs, startedUs, endedUs, updatedUs, deletedUs } =
    run;
  return {
    key,
    id,
    namespace,
    name,
    status,
    notes,
    aliases,
    params: joinObject(run.params),
    tags: [...run.tags],
    createdUs,
    startedUs,
    endedUs,
    updatedUs,
    deletedUs,
  };
}

/** Texts have no numbers to search by. */
function toMetrics(all: readonly SeriesEntry[]): MetricFeed | undefined {
  const entries = all.filter((entry) => entry.state.kind !== "text");
  if (entries.length === 0) return undefined;
  const keys = new Numbering();
  const labels = new Numbering();
  const stats = new Float64Array(entries.length * METRIC_FEED_STATS);
  const key = new Uint32Array(entries.length);
  const label = new Uint32Array(entries.length);
  entries.forEach((entry, i) => {
    const { summary } = entry.state;
    key[i] = keys.of(entry.key);
    label[i] = labels.of(entry.labels);
    stats.set(
      [
        summary.count,
        summary.nanCount,
        summary.first?.value ?? NaN,
        summary.last?.value ?? NaN,
        summary.min?.value ?? NaN,
        summary.max?.value ?? NaN,
        summary.sum,
        summary.last?.step ?? NaN,
      ],
      i * METRIC_FEED_STATS,
    );
  });
  return {
    keys: keys.texts,
    labels: labels.texts,
    runs: Float64Array.from(entries, (entry) => entry.run),
    key,
    label,
    stats,
  };
}

class Numbering {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.texts.push(text) - 1;
      this.#numbers.set(text, number);
    }
    return number;
  }
}
