import { compareCodePoints } from "#lang/code-points.ts";
import { METRIC_FEED_STATS } from "#core/ports/run-changes.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { blockRecords, listRecords, readBlocks, readList, type Next } from "../snapshot/column-records.ts";
import { BLOCK_ROWS, type CellReader, Cells, EMPTY, type FrozenBlocks } from "./cells.ts";
import { NUMBER } from "./value-column.ts";

/** Lanes of a metric's cells. A metric logged once has one array for all its values: see CellBlock. */
export const METRIC_LANES: Readonly<Record<MetricStat, number>> = {
  last: 0,
  first: 1,
  min: 2,
  max: 3,
  mean: 4,
  count: 5,
};
/** The steps at which a metric had its best value; NaN for none. */
export const STEP_LANES = { min: 6, max: 7 } as const;
const LANE_COUNT = 8;

/** The code of a row that has seen only NaN: it has no min, max and mean. */
const ONLY_NAN = 2;

/** Where a MetricFeed entry has its numbers. */
const COUNT = 0;
const NAN_COUNT = 1;
const FIRST = 2;
const LAST = 3;
const MIN = 4;
const MAX = 5;
const SUM = 6;
const LAST_STEP = 7;
const MIN_STEP = 8;
const MAX_STEP = 9;

const NO_LABELS = "";
const entry = new Float64Array(LANE_COUNT);
const combined = new Float64Array(METRIC_FEED_STATS);

/**
 * The summaries of one metric key. The series without labels is the metric's value for a run; where
 * a run has only labelled series (rank=0..7) they are combined.
 */
export class MetricColumn {
  readonly cells = new Cells(LANE_COUNT);
  #onlyNan = 0;
  /** Row → label text → feed entry, only for rows with a labelled series. */
  readonly #labelled = new Map<number, Map<string, Float64Array>>();
  /** Rows whose labelled series must be combined again. */
  readonly #stale = new Set<number>();

  /**
   * Reads METRIC_FEED_STATS numbers from `stats` at `at`; a count of 0 means the series was deleted. Results of
   * labelled series are available after `settle`.
   */
  set(row: number, label: string, stats: Float64Array, at: number): void {
    let series = this.#labelled.get(row);
    if (label !== NO_LABELS && series === undefined) {
      series = new Map();
      // The present value came from a series without labels; only its presence matters.
      if (this.cells.code(row) !== EMPTY) series.set(NO_LABELS, new Float64Array(METRIC_FEED_STATS));
      this.#labelled.set(row, series);
    }
    const gone = stats[at + COUNT] === 0;
    if (gone) series?.delete(label);
    else series?.set(label, stats.slice(at, at + METRIC_FEED_STATS));
    if (series?.size === 0) this.#labelled.delete(row);

    if (label === NO_LABELS && !gone) this.#put(row, stats, at);
    else if (series === undefined || series.size === 0) this.#remove(row);
    else if (!series.has(NO_LABELS)) this.#stale.add(row);
  }

  /** After the last `set` of a batch: a run may have very many label sets, which are combined once. */
  settle(): void {
    for (const row of this.#stale) {
      const series = this.#labelled.get(row);
      if (series !== undefined && !series.has(NO_LABELS)) this.#put(row, combine(series), 0);
    }
    this.#stale.clear();
  }

  delete(row: number): void {
    this.#stale.delete(row);
    this.#remove(row);
    this.#labelled.delete(row);
  }

  /** As `capture` of a ValueColumn. */
  capture(): Generator {
    const labelled: LabelledRow[] = [];
    // A run's entries are replaced, never changed.
    for (const [row, series] of this.#labelled) labelled.push([row, [...series]]);
    return captured(this.#onlyNan, labelled, this.cells.freeze());
  }

  static restore(next: Next): MetricColumn {
    const column = new MetricColumn();
    column.#onlyNan = next() as number;
    for (const [row, series] of readList<LabelledRow>(next)) {
      // Its array is part of a record, which would be kept in memory as a whole.
      const own = series.map(([label, stats]) => [label, stats.slice()] as const);
      column.#labelled.set(row, new Map(own));
    }
    readBlocks(column.cells, next);
    return column;
  }

  /** Knows which rows have this statistic. */
  reader(stat: MetricStat): CellReader {
    const always = stat === "last" || stat === "first" || stat === "count";
    return always || this.#onlyNan === 0 ? this.cells : new NumbersReader(this.cells);
  }

  #remove(row: number): void {
    if (this.cells.delete(row) === ONLY_NAN) this.#onlyNan--;
  }

  #put(row: number, stats: Float64Array, at: number): void {
    entry[METRIC_LANES.last] = stats[at + LAST]!;
    entry[METRIC_LANES.first] = stats[at + FIRST]!;
    entry[METRIC_LANES.min] = stats[at + MIN]!;
    entry[METRIC_LANES.max] = stats[at + MAX]!;
    const numbers = stats[at + COUNT]! - stats[at + NAN_COUNT]!;
    entry[METRIC_LANES.mean] = stats[at + SUM]! / numbers;
    entry[METRIC_LANES.count] = stats[at + COUNT]!;
    entry[STEP_LANES.min] = stats[at + MIN_STEP]!;
    entry[STEP_LANES.max] = stats[at + MAX_STEP]!;
    const code = numbers > 0 ? NUMBER : ONLY_NAN;
    const before = this.cells.set(row, code, entry);
    this.#onlyNan += Number(code === ONLY_NAN) - Number(before === ONLY_NAN);
  }
}

type LabelledRow = [row: number, series: [label: string, stats: Float64Array][]];

function* captured(onlyNan: number, labelled: readonly LabelledRow[], blocks: FrozenBlocks): Generator {
  yield onlyNan;
  yield* listRecords(labelled);
  yield* blockRecords(blocks);
}

const codeScratch = new Uint32Array(BLOCK_ROWS);

/** Cells in which a row without a number is empty. */
class NumbersReader implements CellReader {
  readonly #cells: Cells;

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  code(row: number): number {
    return this.#cells.code(row) === NUMBER ? NUMBER : EMPTY;
  }

  number(row: number, lane: number): number {
    return this.#cells.number(row, lane);
  }

  codesPart(lo: number, hi: number): Uint32Array | undefined {
    const part = this.#cells.codesPart(lo, hi);
    if (part === undefined) return undefined;
    for (let offset = 0; offset < hi - lo; offset++) {
      codeScratch[offset] = part[offset] === NUMBER ? NUMBER : EMPTY;
    }
    return codeScratch;
  }

  numbersPart(lo: number, hi: number, lane: number): Float64Array | undefined {
    return this.#cells.numbersPart(lo, hi, lane);
  }
}

/** First and last are those of the series that got farthest, at a tie of the first by label text. */
function combine(series: ReadonlyMap<string, Float64Array>): Float64Array {
  combined.fill(0);
  combined[MIN] = combined[MAX] = combined[MIN_STEP] = combined[MAX_STEP] = Number.NaN;
  let leader: Float64Array | undefined;
  let leaderLabel = "";
  for (const [label, stats] of series) {
    for (const summed of [COUNT, NAN_COUNT, SUM]) combined[summed]! += stats[summed]!;
    takeBest(stats, MIN, MIN_STEP, 1);
    takeBest(stats, MAX, MAX_STEP, -1);
    const lead = leader === undefined ? 1 : stepOf(stats) - stepOf(leader);
    if (lead > 0 || (lead === 0 && compareCodePoints(label, leaderLabel) < 0)) {
      leader = stats;
      leaderLabel = label;
    }
  }
  combined[FIRST] = leader![FIRST]!;
  combined[LAST] = leader![LAST]!;
  return combined;
}

/** The lower value times `sign`, NaN only when there is no other; at a tie the one of the lower step. */
function takeBest(stats: Float64Array, value: number, step: number, sign: 1 | -1): void {
  const lead = (combined[value]! - stats[value]!) * sign;
  const isFirst = Number.isNaN(combined[value]!);
  if (isFirst || lead > 0 || (combined[value] === stats[value] && stats[step]! < combined[step]!)) {
    combined[value] = stats[value]!;
    combined[step] = stats[step]!;
  }
}

/** A series without steps is less far than every other. */
function stepOf(stats: Float64Array): number {
  const step = stats[LAST_STEP]!;
  return Number.isNaN(step) ? Number.MIN_SAFE_INTEGER : step;
}
