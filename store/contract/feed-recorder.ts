import type { MessagePort } from "node:worker_threads";
import { METRIC_FEED_STATS, type RunFeedBatch, type RunFeedRow } from "#core/ports/run-search.ts";
import type { RunStore } from "#core/ports/run-store.ts";

/** Numbers of one series in the order of METRIC_FEED_STATS. */
export interface FedNumbers {
  count: number;
  nanCount: number;
  first: number;
  last: number;
  min: number;
  max: number;
  sum: number;
  lastStep: number;
}

/** The far end of a RunFeed: keeps every batch, and what follows from all of them. */
export class FeedRecorder {
  readonly batches: RunFeedBatch[] = [];
  /** Runs by key. */
  readonly runs = new Map<number, RunFeedRow>();
  readonly #metrics = new Map<number, Map<string, FedNumbers>>();
  readonly #waiting: { position: number; resolve(): void }[] = [];

  constructor(port: MessagePort) {
    port.on("message", (batch: RunFeedBatch) => this.#take(batch));
  }

  /** Publishes, and resolves when all of it has come over. Returns the position. */
  async catchUp(store: RunStore): Promise<number> {
    const position = await store.publish();
    await this.reach(position);
    return position;
  }

  /** Resolves when the position has come over. */
  async reach(position: number): Promise<void> {
    if ((this.batches.at(-1)?.position ?? 0) >= position) return;
    await new Promise<void>((resolve) => this.#waiting.push({ position, resolve }));
  }

  findRun(id: string): RunFeedRow | undefined {
    return this.runs.values().find((run) => run.id === id);
  }

  /** Of a run, each once. */
  metricKeys(id: string): string[] {
    const names = this.#metrics.get(this.findRun(id)!.key)?.keys() ?? [];
    return [...new Set(Array.from(names, (name) => (JSON.parse(name) as [string, string])[0]))];
  }

  /** `label` as labelsText writes it. */
  findNumbers(id: string, key: string, label = ""): FedNumbers | undefined {
    const run = this.findRun(id);
    return run && this.#metrics.get(run.key)?.get(JSON.stringify([key, label]));
  }

  #take(batch: RunFeedBatch): void {
    this.batches.push(batch);
    if (batch.reset) {
      this.runs.clear();
      this.#metrics.clear();
    }
    for (const key of batch.purged) {
      this.runs.delete(key);
      this.#metrics.delete(key);
    }
    for (const run of batch.runs) this.runs.set(run.key, run);
    this.#takeMetrics(batch);
    while (this.#waiting.length > 0 && this.#waiting[0]!.position <= batch.position) {
      this.#waiting.shift()!.resolve();
    }
  }

  #takeMetrics({ metrics }: RunFeedBatch): void {
    metrics?.runs.forEach((run, i) => {
      let known = this.#metrics.get(run);
      if (known === undefined) this.#metrics.set(run, (known = new Map()));
      const stats = metrics.stats.subarray(i * METRIC_FEED_STATS, (i + 1) * METRIC_FEED_STATS);
      const [count, nanCount, first, last, min, max, sum, lastStep] = stats as unknown as Eight;
      const name = JSON.stringify([metrics.keys[metrics.key[i]!], metrics.labels[metrics.label[i]!]]);
      if (count === 0) known.delete(name);
      else known.set(name, { count, nanCount, first, last, min, max, sum, lastStep });
    });
  }
}

type Eight = [number, number, number, number, number, number, number, number];
