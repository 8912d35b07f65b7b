import {
  METRIC_FEED_STATS,
  type ModelFeedRow,
  type NamespacePaths,
  type RunChanges,
  type RunFeedBatch,
  type RunFeedRow,
} from "#core/ports/run-changes.ts";

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
  minStep: number;
  maxStep: number;
}

/** A follower of RunChanges: keeps every batch, and the resulting state. */
export class FeedRecorder {
  readonly batches: RunFeedBatch[] = [];
  /** Runs by key. */
  readonly runs = new Map<number, RunFeedRow>();
  /** Models by key. */
  readonly models = new Map<number, ModelFeedRow>();
  /** Ids of namespaces. */
  readonly #trashed = new Set<number>();
  readonly #changes: RunChanges;
  readonly #metrics = new Map<number, Map<string, FedNumbers>>();
  #following: Promise<unknown> = Promise.resolve();

  constructor(changes: RunChanges) {
    this.#changes = changes;
  }

  /** Resolves when it has every acknowledged change. Returns the position. */
  catchUp(): Promise<number> {
    const caughtUp = this.#following.then(() => this.#follow());
    this.#following = caughtUp.catch(() => undefined);
    return caughtUp;
  }

  async #follow(): Promise<number> {
    const wanted = this.#changes.position();
    for (;;) {
      const mark = this.batches.at(-1)?.mark;
      if (mark !== undefined && mark.scanned === undefined && mark.position >= wanted) return mark.position;
      await this.takeOne();
    }
  }

  async takeOne(): Promise<void> {
    this.take(await this.#changes.runsSince(this.batches.at(-1)?.mark));
  }

  /** Another follower with the state of this one, as after a restart. */
  resume(changes: RunChanges): FeedRecorder {
    const next = new FeedRecorder(changes);
    for (const batch of this.batches) next.take(batch);
    return next;
  }

  findRun(id: string): RunFeedRow | undefined {
    return this.runs.values().find((run) => run.id === id);
  }

  /** Of a run, by name, then by step. */
  modelsOf(id: string): Omit<ModelFeedRow, "key" | "run">[] {
    const run = this.findRun(id);
    const own = [...this.models.values()].filter((model) => model.run === run?.key);
    own.sort(
      (a, b) =>
        (a.name < b.name ? -1 : Number(a.name > b.name)) || (a.step ?? -Infinity) - (b.step ?? -Infinity),
    );
    return own.map(({ name, step, sizeBytes, createdUs }) => ({ name, step, sizeBytes, createdUs }));
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

  take(batch: RunFeedBatch): void {
    this.batches.push(batch);
    if (batch.reset) {
      this.runs.clear();
      this.models.clear();
      this.#metrics.clear();
    }
    if (batch.reset) this.#trashed.clear();
    if (batch.namespaces !== undefined) this.#takeNamespaces(batch.namespaces);
    for (const key of batch.purged) {
      const isBack = batch.runs.some((run) => run.key === key && run.id === this.runs.get(key)?.id);
      for (const model of this.models.values()) {
        if (model.run === key && !isBack) this.models.delete(model.key);
      }
      this.runs.delete(key);
      this.#metrics.delete(key);
    }
    for (const run of batch.runs) this.runs.set(run.key, { ...run });
    this.#takeMetrics(batch);
    for (const key of batch.models?.gone ?? []) this.models.delete(key);
    for (const model of batch.models?.rows ?? []) {
      if (this.runs.has(model.run)) this.models.set(model.key, model);
    }
  }

  #takeNamespaces(namespaces: NamespacePaths): void {
    const paths = new Map(namespaces.map(([id, path]) => [id, path]));
    for (const run of this.runs.values()) run.namespace = paths.get(run.namespaceId) ?? run.namespace;
    this.#trashed.clear();
    for (const [id, , isTrashed] of namespaces) if (isTrashed) this.#trashed.add(id);
  }

  /** By itself or with its namespace. */
  isTrashed({ deletedUs, namespaceId }: RunFeedRow): boolean {
    return deletedUs !== undefined || this.#trashed.has(namespaceId);
  }

  #takeMetrics({ metrics }: RunFeedBatch): void {
    metrics?.runs.forEach((run, i) => {
      let known = this.#metrics.get(run);
      if (known === undefined) this.#metrics.set(run, (known = new Map()));
      const stats = metrics.stats.subarray(i * METRIC_FEED_STATS, (i + 1) * METRIC_FEED_STATS);
      const [count, nanCount, first, last, min, max, sum, lastStep, minStep, maxStep] =
        stats as unknown as Ten;
      const name = JSON.stringify([metrics.keys[metrics.key[i]!], metrics.labels[metrics.label[i]!]]);
      known.set(name, { count, nanCount, first, last, min, max, sum, lastStep, minStep, maxStep });
    });
  }
}

type Ten = [number, number, number, number, number, number, number, number, number, number];
