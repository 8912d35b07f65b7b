/**
 * The run index: every run as one row of typed columns, searched by scanning whole columns a block of
 * rows at a time. There is no index structure to fit or miss a query, so any key costs the same:
 * about one nanosecond per row and term, and less where an earlier term has dropped rows already.
 */
import { fittingFields, orderFields, type CountedField } from "#core/explore/fields.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import type {
  BestFound,
  BestRequest,
  FieldKind,
  FieldsRequest,
  FoundFields,
  FrontierRun,
  ModelSearchRequest,
  ModelSearchResult,
  NamespaceTally,
  RunSelection,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import {
  METRIC_FEED_STATS,
  type MetricFeed,
  type RunFeedBatch,
  type RunFeedRow,
} from "#core/ports/run-changes.ts";
import { maskReadsNamespace, type ReadMask } from "#core/types/scope.ts";
import { systemClock } from "#base/clock.ts";
import type { Field, Query } from "#lang/query/ast.ts";
import { BLOCK_ROWS, EMPTY } from "./cells/cells.ts";
import { blocks, selectBlock } from "./search/blocks.ts";
import { Compiler } from "./search/compile.ts";
import { countMetric, countValues } from "./analysis/count-values.ts";
import { allOf, type Term } from "./search/filter.ts";
import { findBest } from "./analysis/find-best.ts";
import { FreeRows } from "./free-rows.ts";
import { KeyRows } from "./cells/key-rows.ts";
import { MASKS_MAX, MaskTables } from "./masks/mask-table.ts";
import { METRIC_LANES, type MetricColumn } from "./cells/metric-column.ts";
import { ModelColumns } from "./models/model-columns.ts";
import { searchModels } from "./models/search-models.ts";
import { Ordering } from "./search/ordering.ts";
import { formatToken, parseToken } from "./search/page-token.ts";
import type { Next } from "./snapshot/column-records.ts";
import { RunColumns } from "./cells/run-columns.ts";
import { SearchDeadline } from "./search/search-deadline.ts";
import { SelectedRows } from "./search/selected-rows.ts";
import { Stretch } from "./search/stretch.ts";
import { readColumn } from "./analysis/table-column.ts";
import { Top } from "./search/top.ts";

/** Searches run one after the other, so a long one delays all. */
const SEARCH_MS_MAX = 5_000;

/** Applying a batch does not depend on its mark. */
export type RunPart = Omit<RunFeedBatch, "mark">;

const EVERYTHING: Query = { where: undefined, orderBy: [] };

export interface IndexOptions {
  searchMsMax?: number;
  masksMax?: number;
}

export class RunIndex {
  readonly #selection = new Uint16Array(BLOCK_ROWS);
  #columns = new RunColumns();
  #rowOfKey = new KeyRows();
  #freeRows = new FreeRows();
  #models = new ModelColumns();
  /** By the id of the mask they are counted through; "" without one. Of the current runs. */
  readonly #tallies = new Map<string, NamespaceTally[]>();
  readonly #masks: MaskTables;
  readonly #searchMsMax: number;

  constructor(options: IndexOptions = {}) {
    this.#masks = new MaskTables(options.masksMax);
    this.#searchMsMax = options.searchMsMax ?? SEARCH_MS_MAX;
  }

  /** Within a batch, namespaces come first, then purges, then runs, then metrics and models. Those of an unknown run are ignored. */
  apply(batch: RunPart): void {
    this.#tallies.clear();
    if (batch.reset) {
      this.#columns = new RunColumns();
      this.#rowOfKey = new KeyRows();
      this.#freeRows = new FreeRows();
      this.#models = new ModelColumns();
    }
    if (batch.namespaces !== undefined) this.#columns.moveNamespaces(batch.namespaces);
    if (batch.purged.length > 0) this.#purge(batch);
    for (const run of batch.runs) this.#columns.set(this.#rowOf(run), run);
    if (batch.metrics !== undefined) this.#applyMetrics(batch.metrics);
    if (batch.models !== undefined) this.#models.apply(batch.models, (key) => this.#rowOfKey.get(key));
  }

  /** Runs, also those in the trash. */
  get size(): number {
    return this.#columns.trashed.cells.filled;
  }

  /** Its current content, as records for `restore`, which may be read later. */
  capture(): Iterable<unknown> {
    const parts = [this.#columns.capture(), this.#models.capture()];
    return captured(this.#rowOfKey.copy(), this.#freeRows.all(), parts);
  }

  /** Has the content of the captured one. */
  static restore(next: Next, options?: IndexOptions): RunIndex {
    const index = new RunIndex(options);
    index.#rowOfKey = new KeyRows(next() as Uint32Array);
    index.#freeRows = new FreeRows(next() as number[]);
    index.#columns = RunColumns.restore(next);
    index.#models = ModelColumns.restore(next);
    return index;
  }

  /** Throws `invalid` (PAGE_TOKEN) for an `after` that is not of this query, and `deadline`. */
  search(request: SearchRequest): SearchResult {
    const { orderBy } = request.query;
    const after = request.after === undefined ? undefined : parseToken(request.after, orderBy);
    const nowUs = after?.nowUs ?? request.nowUs ?? systemClock.nowUs();
    const deadline = new SearchDeadline(this.#searchMsMax);
    const compiler = new Compiler(this.#columns, nowUs, deadline);
    const ordering = new Ordering(compiler.sortKeys(orderBy));
    const { offset = 0 } = request;
    const page =
      offset === 0 ? new Top(ordering, request.limit) : new Stretch(ordering, offset, request.limit);
    const { readable } = request;
    const term = compiler.filter(request, readable && this.#masks.of(readable));

    let total = 0;
    let ahead = 0;
    for (const lo of blocks(this.#columns.rows)) {
      deadline.check();
      const hi = Math.min(lo + BLOCK_ROWS, this.#columns.rows);
      let count = this.#select(term, lo, hi);
      total += count;
      if (after !== undefined) count = ordering.keepBeyond(after.place, 1, lo, hi, this.#selection, count);
      ahead += count;
      page.offer(lo, hi, this.#selection, count);
    }

    const entries = page.take();
    const last = offset + entries.length < ahead ? entries.at(-1) : undefined;
    return {
      ids: entries.map(({ row }) => this.#columns.fields.id.text(this.#columns.fields.id.cells.code(row))),
      metrics: request.metrics.map(({ key, stat }) => {
        const cells = this.#columns.findMetric(key)?.reader(stat);
        return entries.map(({ row }) => {
          return cells === undefined || cells.code(row) === EMPTY
            ? undefined
            : cells.number(row, METRIC_LANES[stat]);
        });
      }),
      total,
      next: last && formatToken({ place: last.place, nowUs }, orderBy),
    };
  }

  /** Likewise. */
  searchModels(request: ModelSearchRequest): ModelSearchResult {
    const { readable } = request;
    const columns = { runs: this.#columns, models: this.#models };
    const deadline = new SearchDeadline(this.#searchMsMax);
    return searchModels(columns, request, readable && this.#masks.of(readable), deadline);
  }

  /** Rows outside the trash that the request currently selects. They must be closed. */
  select(selection: RunSelection): SelectedRows {
    const rows = new SelectedRows(this.#columns, this.#freeRows.hold());
    try {
      this.#selectInto(rows, selection);
      return rows;
    } catch (thrown) {
      rows.close();
      throw thrown;
    }
  }

  #selectInto(rows: SelectedRows, selection: RunSelection): void {
    const deadline = new SearchDeadline(this.#searchMsMax);
    const compiler = new Compiler(this.#columns, selection.nowUs ?? systemClock.nowUs(), deadline);
    const { readable } = selection;
    const term = compiler.filter({ ...selection, trashed: false }, readable && this.#masks.of(readable));
    for (let lo = 0; lo < this.#columns.rows; lo += BLOCK_ROWS) {
      deadline.check();
      const hi = Math.min(lo + BLOCK_ROWS, this.#columns.rows);
      rows.add(lo, hi, this.#selection, this.#select(term, lo, hi));
    }
  }

  /** Pauses, so that other work has its turn. */
  *best({ readable, goals }: BestRequest): Generator<void, (BestFound | undefined)[]> {
    const rows = this.select({ query: EVERYTHING, readable, under: "" });
    try {
      return yield* findBest(goals, rows);
    } finally {
      rows.close();
    }
  }

  /** Likewise. */
  *fields(request: FieldsRequest): Generator<void, FoundFields> {
    const rows = this.select(request);
    try {
      return yield* this.fieldsOf(request, rows);
    } finally {
      rows.close();
    }
  }

  *fieldsOf(
    request: Omit<FieldsRequest, keyof RunSelection>,
    rows: SelectedRows,
  ): Generator<void, FoundFields> {
    const { kinds, known, valuesMax, offset, limit } = request;
    const find = request.find.toLowerCase();
    const counted: CountedField[] = [];
    for (const count of this.#counters(kinds, (key) => key.toLowerCase().includes(find), rows)) {
      const field = count();
      if (field !== undefined) counted.push(field);
      yield;
    }
    const fields = orderFields(counted, rows.count, known, valuesMax);
    return { fields: fittingFields(fields, offset, limit), total: fields.length, runs: rows.count };
  }

  #counters(
    kinds: ReadonlySet<FieldKind>,
    isWanted: (key: string) => boolean,
    rows: SelectedRows,
  ): (() => CountedField | undefined)[] {
    const counters: (() => CountedField | undefined)[] = [];
    for (const kind of ["param", "tag"] as const) {
      if (!kinds.has(kind)) continue;
      for (const [key, values] of rows.columns[`${kind}s`].entries()) {
        if (isWanted(key)) counters.push(() => countValues(kind, key, values, rows));
      }
    }
    if (!kinds.has("metric")) return counters;
    for (const [key, { cells }] of rows.columns.metricEntries()) {
      if (isWanted(key)) counters.push(() => countMetric(key, cells, rows));
    }
    return counters;
  }

  /** undefined when none of the rows has the field. */
  column(field: Field, rows: SelectedRows, nowUs: number): RunColumn | undefined {
    const compiler = new Compiler(rows.columns, nowUs, new SearchDeadline(this.#searchMsMax));
    const source = compiler.find(field);
    return source && readColumn(source, rows);
  }

  /** The run at a place among them; undefined when it was purged. */
  identify(rows: SelectedRows, place: number): Pick<FrontierRun, "id" | "name" | "namespace"> | undefined {
    const { id, name, namespace } = rows.columns.fields;
    const row = rows.rowAt(place);
    if (id.cells.code(row) === EMPTY) return undefined;
    return {
      id: id.text(id.cells.code(row)),
      name: name.text(name.cells.code(row)),
      namespace: namespace.text(namespace.cells.code(row)),
    };
  }

  /** A cached one, unless many others were added since. */
  findMask(id: string): ReadMask | undefined {
    return this.#masks.find(id);
  }

  keepMask(mask: ReadMask): void {
    this.#masks.of(mask);
  }

  /** One entry per namespace with a run outside the trash, by path. The answer is shared: do not change it. */
  tally(readable?: ReadMask): NamespaceTally[] {
    const name = readable === undefined ? "" : `mask ${readable.id}`;
    let tally = this.#tallies.get(name);
    if (tally !== undefined) return tally;
    if (readable === undefined) tally = this.#count([]);
    else {
      const mask = this.#masks.of(readable);
      tally = mask.isPlain
        ? this.tally().filter(({ namespace }) => maskReadsNamespace(readable, namespace))
        : this.#count([mask.term(this.#columns)]);
    }
    if (this.#tallies.size >= MASKS_MAX) this.#tallies.clear();
    this.#tallies.set(name, tally);
    return tally;
  }

  #select(term: Term, lo: number, hi: number): number {
    return selectBlock(term, lo, hi, this.#selection);
  }

  #rowOf(run: RunFeedRow): number {
    let row = this.#rowOfKey.get(run.key);
    if (row === undefined) {
      row = this.#freeRows.take() ?? this.#columns.rows++;
      this.#rowOfKey.set(run.key, row);
    }
    return row;
  }

  #purge({ purged, runs }: RunPart): void {
    // A run whose points were deleted is again in the same batch: it keeps its row, and its models.
    const again = new Map(runs.map(({ key, id }) => [key, id]));
    const gone = new Set<number>();
    const { id } = this.#columns.fields;
    for (const key of purged) {
      const row = this.#rowOfKey.get(key);
      if (row === undefined) continue;
      if (again.get(key) !== id.value(row)) gone.add(row);
      this.#columns.delete(row);
      if (again.has(key)) continue;
      this.#rowOfKey.delete(key);
      this.#freeRows.add(row);
    }
    this.#models.deleteRuns(gone);
  }

  #applyMetrics(feed: MetricFeed): void {
    const columns: (MetricColumn | undefined)[] = [];
    let key = Number.NaN;
    let row: number | undefined;
    for (let at = 0; at < feed.runs.length; at++) {
      if (feed.runs[at] !== key) {
        key = feed.runs[at]!;
        row = this.#rowOfKey.get(key);
      }
      if (row === undefined) continue;
      const keyAt = feed.key[at]!;
      const column = (columns[keyAt] ??= this.#columns.metric(feed.keys[keyAt]!));
      column.set(row, feed.labels[feed.label[at]!]!, feed.stats, at * METRIC_FEED_STATS);
    }
    for (const column of columns) column?.settle();
  }

  #count(terms: readonly Term[]): NamespaceTally[] {
    const { rows, fields } = this.#columns;
    const compiler = new Compiler(this.#columns, 0, new SearchDeadline(this.#searchMsMax));
    const live = allOf([compiler.trash(false), ...terms]);
    const running = fields.status.findCode("running");
    const byCode: (NamespaceTally | undefined)[] = [];
    for (let lo = 0; lo < rows; lo += BLOCK_ROWS) {
      const count = this.#select(live, lo, Math.min(lo + BLOCK_ROWS, rows));
      for (let at = 0; at < count; at++) {
        const row = lo + this.#selection[at]!;
        const code = fields.namespace.cells.code(row);
        const tally = (byCode[code] ??= {
          namespace: fields.namespace.text(code),
          runs: 0,
          running: 0,
          lastActivityUs: 0,
        });
        tally.runs++;
        if (fields.status.cells.code(row) === running) tally.running++;
        tally.lastActivityUs = Math.max(tally.lastActivityUs, fields.updated.cells.number(row, 0));
      }
    }
    return byCode.filter((tally) => tally !== undefined).sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  }
}

function* captured(keys: Uint32Array, freeRows: number[], parts: readonly Generator[]): Generator {
  yield keys;
  yield freeRows;
  for (const part of parts) yield* part;
}
