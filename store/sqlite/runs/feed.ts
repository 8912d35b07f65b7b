import { createHash } from "node:crypto";
import { CHANGED } from "#core/ports/journal.ts";
import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type ModelFeed,
  type RunFeedBatch,
  type RunFeedRow,
  type RunMark,
} from "#core/ports/run-changes.ts";
import { findSetting } from "../file/settings.ts";
import type { Db } from "../file/db.ts";
import { hasNamespaceMovedSince, journalRange, SECRET_SETTING } from "../journal/journal.ts";
import {
  eachSummary,
  eachSummaryAfter,
  type Catalog,
  type SeriesEntry,
  type StoredSummary,
} from "../series/catalog.ts";
import type { RecentSeries } from "../series/recent-series.ts";
import { ModelChanges } from "./model-changes.ts";
import type { Namespaces } from "./namespaces.ts";
import type { Runs } from "./runs.ts";

/**
 * What one part is made of at most; a run's series, and models of one change, are not divided. Series of runs that are sent whole are counted apart:
 * changes that follow such a run go into its part, so that a large one is not sent again for each of its deletions.
 */
const SCANNED_RUNS = 2_000;
const SCANNED_SERIES = 10_000;
const SCANNED_MODELS = 10_000;
const CHANGES = 5_000;
const CHANGED_SERIES = 20_000;
const CHANGED_MODELS = 20_000;

/** What changed up to a position, series of numbers and models, as they are now. */
interface Changes {
  position: number;
  runs: RunFeedRow[];
  purged: number[];
  series: MetricColumns;
  models: ModelFeed;
}

/**
 * Finds runs that changed after a mark. It is called between two groups of the writer, whose memory then holds exactly
 * what is committed, also of points that are not folded yet.
 */
export class RunFeed {
  readonly #db: Db;
  readonly #runs: Runs;
  readonly #namespaces: Namespaces;
  readonly #models: ModelChanges;
  readonly #catalog: Catalog;
  readonly #recent: RecentSeries;
  readonly #journal: string;

  constructor(parts: { db: Db; runs: Runs; namespaces: Namespaces; catalog: Catalog; recent: RecentSeries }) {
    this.#db = parts.db;
    this.#namespaces = parts.namespaces;
    this.#runs = parts.runs;
    this.#models = new ModelChanges(parts.db);
    this.#catalog = parts.catalog;
    this.#recent = parts.recent;
    this.#journal = createHash("sha256").update(findSetting(parts.db, SECRET_SETTING)!).digest("hex");
  }

  since(mark: RunMark | undefined): RunFeedBatch {
    const { floor, position } = journalRange(this.#db);
    const isKnown =
      mark !== undefined &&
      mark.journal === this.#journal &&
      mark.position >= floor &&
      mark.position <= position;
    if (!isKnown) {
      const batch = this.#scanRuns(0, noChanges(position));
      return { ...batch, reset: true, namespaces: this.#namespaces.paths() };
    }
    const batch = this.#partAfter(mark);
    // Not only up to the new mark: runs come as they are now, with the paths of now.
    if (!hasNamespaceMovedSince(this.#db, mark.position)) return batch;
    return { ...batch, namespaces: this.#namespaces.paths() };
  }

  #partAfter({ position, scanned }: RunMark): RunFeedBatch {
    const changes = this.#changesSince(position);
    if (scanned === undefined) return this.#toBatch(changes);
    // A scan may take so long that the journal forgets the position at which it began: what changes comes along.
    const { table, through } = scanned;
    if (table === "run") return this.#scanRuns(through, changes);
    return table === "series" ? this.#scanSeries(through, changes) : this.#scanModels(through, changes);
  }

  #scanRuns(after: number, changes: Changes): RunFeedBatch {
    const runs = this.#runs.feedRowsAfter(after, SCANNED_RUNS);
    const scanned =
      runs.length < SCANNED_RUNS
        ? { table: "series" as const, through: 0 }
        : { table: "run" as const, through: runs.at(-1)!.key };
    return this.#toBatch({ ...changes, runs: [...changes.runs, ...runs] }, scanned);
  }

  #scanSeries(after: number, changes: Changes): RunFeedBatch {
    const { series } = changes;
    series.expect(SCANNED_SERIES);
    let count = 0;
    let through = after;
    for (const { id, summary } of eachSummaryAfter(this.#db, after, SCANNED_SERIES)) {
      count++;
      through = id;
      if (summary !== undefined) series.add(this.#current(summary));
    }
    // Those that are created from now on are in the changes.
    const scanned =
      count < SCANNED_SERIES
        ? { table: "model" as const, through: 0 }
        : { table: "series" as const, through };
    return this.#toBatch(changes, scanned);
  }

  #scanModels(after: number, changes: Changes): RunFeedBatch {
    const found = this.#models.scanAfter(after, SCANNED_MODELS);
    const scanned =
      found.length < SCANNED_MODELS ? undefined : { table: "model" as const, through: found.at(-1)!.key };
    const { gone, rows } = changes.models;
    return this.#toBatch({ ...changes, models: { gone, rows: [...rows, ...found] } }, scanned);
  }

  #changesSince(since: number): Changes {
    const seriesOf = since >= this.#recent.floor ? this.#recentByRun(since) : this.#allOfRun.bind(this);
    const rows = this.#db.all(
      "SELECT pos, run, what FROM change WHERE pos > ? ORDER BY pos LIMIT ?",
      since,
      CHANGES,
    );
    const known = new Map<number, number>();
    const changes = noChanges(since);
    const { runs, purged, series } = changes;
    const models = new Set<number>();
    const left = { changed: CHANGED_SERIES, whole: CHANGED_SERIES };
    for (const row of rows) {
      const [pos, run, what] = [Number(row[0]), Number(row[1]), Number(row[2])];
      const fresh = what & ~(known.get(run) ?? 0);
      if ((fresh & CHANGED.deleted) !== 0 && left.whole <= 0) break;
      known.set(run, (known.get(run) ?? 0) | what);
      if ((fresh & CHANGED.purged) !== 0) purged.push(run);
      if ((fresh & CHANGED.run) !== 0) {
        const found = this.#runs.findFeedRow(run);
        // It may have been purged by a later change.
        if (found !== undefined) runs.push(found);
      }
      if ((fresh & CHANGED.deleted) !== 0) {
        // Series may be gone: the run is sent as a new one, with all that it has.
        purged.push(run);
        const found = this.#runs.findFeedRow(run);
        if (found !== undefined) runs.push(found);
        const all = this.#allOfRun(run);
        for (const one of all) series.add(one);
        left.whole -= all.length;
      } else if ((fresh & CHANGED.points) !== 0) {
        const own = seriesOf(run);
        for (const one of own) series.add(one);
        left.changed -= own.length;
      }
      if ((what & CHANGED.artifacts) !== 0) {
        for (const id of this.#models.changedIn(changes.position, pos)) models.add(id);
      }
      changes.position = pos;
      if (left.changed <= 0 || models.size >= CHANGED_MODELS) break;
    }
    if (models.size > 0) changes.models = this.#models.read(models);
    return changes;
  }

  /** Series of numbers with points after a position that is in the chain, by run. */
  #recentByRun(since: number): (run: number) => readonly StoredSummary[] {
    const byRun = new Map<number, SeriesEntry[]>();
    for (const entry of this.#recent.since(since)) {
      if (entry.state.kind === "text") continue;
      const own = byRun.get(entry.run);
      if (own === undefined) byRun.set(entry.run, [entry]);
      else own.push(entry);
    }
    return (run) => (byRun.get(run) ?? []).map(summaryOf);
  }

  #allOfRun(run: number): StoredSummary[] {
    return Array.from(eachSummary(this.#db, "run = ?", run), (stored) => this.#current(stored));
  }

  /** With what is still in the log: every series with rows there is in memory. */
  #current(stored: StoredSummary): StoredSummary {
    const entry = this.#catalog.peek(stored.id);
    return entry === undefined ? stored : summaryOf(entry);
  }

  #toBatch({ position, runs, purged, series, models }: Changes, scanned?: RunMark["scanned"]): RunFeedBatch {
    const mark = { journal: this.#journal, position, ...(scanned !== undefined && { scanned }) };
    const hasModels = models.gone.length > 0 || models.rows.length > 0;
    return { mark, reset: false, runs, purged, metrics: series.finish(), ...(hasModels && { models }) };
  }
}

function noChanges(position: number): Changes {
  return { position, runs: [], purged: [], series: new MetricColumns(), models: { gone: [], rows: [] } };
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
    min?.step ?? NaN,
    max?.step ?? NaN,
  ] as const;
  return { id, run, key, labels, stats };
}

/** Summaries of series of numbers (texts have none to search by), put into columns at once: many objects would cost more. */
class MetricColumns {
  readonly #keys = new Numbering();
  readonly #labels = new Numbering();
  #count = 0;
  #runs = new Float64Array(0);
  #key = new Uint32Array(0);
  #label = new Uint32Array(0);
  #stats = new Float64Array(0);

  /** Makes room at once: growing in steps would copy everything several times. */
  expect(more: number): void {
    if (this.#count + more > this.#runs.length) this.#resize(this.#count + more);
  }

  add({ run, key, labels, stats }: StoredSummary): void {
    if (this.#count === this.#runs.length) this.#resize(Math.max(16, this.#count * 2));
    const row = this.#count++;
    this.#runs[row] = run;
    this.#key[row] = this.#keys.of(key);
    this.#label[row] = this.#labels.of(labels);
    this.#stats.set(stats, row * METRIC_FEED_STATS);
  }

  finish(): MetricFeed | undefined {
    if (this.#count === 0) return undefined;
    if (this.#count < this.#runs.length) this.#resize(this.#count);
    return {
      keys: this.#keys.texts,
      labels: this.#labels.texts,
      runs: this.#runs,
      key: this.#key,
      label: this.#label,
      stats: this.#stats,
    };
  }

  #resize(rows: number): void {
    this.#runs = resized(this.#runs, new Float64Array(rows));
    this.#key = resized(this.#key, new Uint32Array(rows));
    this.#label = resized(this.#label, new Uint32Array(rows));
    this.#stats = resized(this.#stats, new Float64Array(rows * METRIC_FEED_STATS));
  }
}

function resized<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from.subarray(0, to.length));
  return to;
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
