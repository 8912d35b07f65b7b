import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type RunFeed,
  type RunFeedBatch,
  type RunFeedRow,
} from "#core/ports/run-search.ts";
import { eachSummary, type SeriesEntry, type StoredSummary } from "../series/catalog.ts";
import type { Db } from "../file/db.ts";
import type { Runs } from "./runs.ts";

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

  /** Everything there is, from the beginning. `logged` gives a series that has rows in the log. */
  tellAll(logged: (id: number) => SeriesEntry | undefined): void {
    this.#purged.length = 0;
    this.#post({ reset: true, runs: [], metrics: undefined });
    let runs: RunFeedRow[] = [];
    for (const row of this.#runs.eachFeedRow()) {
      if (runs.push(row) < BATCH_RUNS) continue;
      this.#post({ reset: false, runs, metrics: undefined });
      runs = [];
    }
    this.#post({ reset: false, runs, metrics: undefined });
    let told: StoredSummary[] = [];
    for (const stored of eachSummary(this.#db)) {
      const entry = logged(stored.id);
      if (told.push(entry === undefined ? stored : summaryOf(entry)) < BATCH_SERIES) continue;
      this.#post({ reset: false, runs: [], metrics: toMetrics(told) });
      told = [];
    }
    this.#post({ reset: false, runs: [], metrics: toMetrics(told) });
    this.#stale = false;
  }

  tell(runs: readonly RunFeedRow[], entries: Iterable<SeriesEntry>): void {
    const told = [...entries].filter((entry) => entry.state.kind !== "text").map(summaryOf);
    this.#post({ reset: false, runs: [...runs], metrics: toMetrics(told) });
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

function summaryOf({ id, run, key, labels, state }: SeriesEntry): StoredSummary {
  const { count, nanCount, first, last, min, max, sum } = state.summary;
  const stats = [
    count,
    nanCount,
    first?.value ?? NaN,
    last?.value ?? NaN,
    min?.value ?? NaN,
    max?.value ?? NaN,
    sum,
    last?.step ?? NaN,
  ] as const;
  return { id, run, key, labels, stats };
}

/** Of series of numbers: texts have none to search by. */
function toMetrics(told: readonly StoredSummary[]): MetricFeed | undefined {
  if (told.length === 0) return undefined;
  const keys = new Numbering();
  const labels = new Numbering();
  const stats = new Float64Array(told.length * METRIC_FEED_STATS);
  const key = new Uint32Array(told.length);
  const label = new Uint32Array(told.length);
  told.forEach((one, i) => {
    key[i] = keys.of(one.key);
    label[i] = labels.of(one.labels);
    stats.set(one.stats, i * METRIC_FEED_STATS);
  });
  return {
    keys: keys.texts,
    labels: labels.texts,
    runs: Float64Array.from(told, (one) => one.run),
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
