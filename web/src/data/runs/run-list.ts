import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { RunsView } from "../live/types.ts";

export interface RunPage {
  runs: Run[];
  totalCount: bigint;
  /** Every change up to there is in it. */
  position: string;
}

/** Some rows of a search: SearchRuns, or its replacement in a test. */
export type SearchPage = (
  view: RunsView,
  rows: { offset: number; size: number },
  signal: AbortSignal,
) => Promise<RunPage>;

/** Small, so that the first rows appear at once. */
export const FIRST_PAGE = 160;
const PAGE = 400;
/** The maximum of the server. */
const PAGE_MAX = 10_000;
/** Rows read ahead of the visible ones, on both sides. */
const AHEAD = 100;

/**
 * The runs of a view, read where the user looks, and kept current. The number of matches is known from the first page on, so a table has its full height at once; rows that are
 * not loaded are undefined. Any place can be read with one call.
 *
 * Rows may move between two calls. Then the row that was read last is right, and the earlier place of the same run is empty until it is read again, so that no run
 * is there twice. A change of a watched run makes the visible rows be read again.
 *
 * Owned by one page: close it to stop running calls.
 */
export class RunList {
  readonly view: RunsView;
  /** Of the first answer: all other rows were requested later. "" before. */
  position = "";
  /** How many match; 0 before the first page. */
  total = 0;
  /** Why reading stopped; `retry` continues. */
  failure: unknown = undefined;
  /** Grows with every change, for components that draw the list. */
  version = 0;
  readonly #search: SearchPage;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  #rows: (Run | undefined)[] = [];
  #places = new Map<string, number>();
  /** The rows from the first on, as far as they are without a gap. */
  #prefix: Run[] = [];
  #hasFirst = false;
  /** The visible rows. */
  #seen = { from: 0, end: 0 };
  /** How many rows from the first on are needed without a gap, whatever is looked at. */
  #needed = 0;
  #reading: { offset: number; end: number; call: AbortController } | undefined;
  /** A page that was requested before a refresh is discarded. */
  #generation = 0;

  constructor(search: SearchPage, view: RunsView) {
    this.#search = search;
    this.view = view;
  }

  /** Read so far, without gaps from the first. */
  get rows(): readonly Run[] {
    return this.#prefix;
  }

  at(place: number): Run | undefined {
    return this.#rows[place];
  }

  get isReady(): boolean {
    return this.#hasFirst;
  }

  get isComplete(): boolean {
    return this.#hasFirst && this.#prefix.length >= this.total;
  }

  /** How many rows are needed, visible or not. */
  get needed(): number {
    return Math.min(this.#needed, this.total);
  }

  placeOf(runId: string): number | undefined {
    return this.#places.get(runId);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  close(): void {
    this.#stop.abort();
    this.#reading?.call.abort();
    this.#listeners.clear();
  }

  /** Sets the visible rows. */
  look(from: number, end: number): void {
    this.#seen = { from: Math.max(0, from - AHEAD), end: end + AHEAD };
    // Rows that were visible before are no longer needed.
    const { call, offset, end: readEnd } = this.#reading ?? {};
    if (call !== undefined && this.#hasFirst && offset! >= this.#needed) {
      if (readEnd! <= this.#seen.from || offset! >= this.#seen.end) call.abort();
    }
    void this.#read();
  }

  /** All rows before `end` are needed, such as to group them. */
  need(end: number): void {
    this.#needed = Math.max(this.#needed, end);
    void this.#read();
  }

  /** True when these rows have been read, as far as there are any. */
  isThere(from: number, end: number): boolean {
    const last = Math.min(end, this.total);
    for (let place = from; place < last; place++) if (this.#rows[place] === undefined) return false;
    return this.#hasFirst;
  }

  /** Rows from one place to another: loaded ones, or else read for this call only. */
  async range(from: number, end: number): Promise<Run[]> {
    const last = Math.min(end, this.total, from + PAGE_MAX);
    const known = this.#rows.slice(from, last).filter((run) => run !== undefined);
    if (known.length === Math.max(0, last - from)) return known;
    const page = { offset: from, size: last - from };
    return (await this.#search(this.view, page, this.#stop.signal)).runs;
  }

  retry(): void {
    this.failure = undefined;
    this.#notify();
    if (this.#gap() === undefined) void this.refresh();
    else void this.#read();
  }

  /** Updates changed runs in place. False if a run is not among the loaded rows. */
  patch(runs: readonly Run[]): boolean {
    let isKnown = true;
    for (const run of runs) {
      const place = this.#places.get(run.id);
      if (place === undefined) isKnown = false;
      else {
        this.#rows[place] = run;
        if (place < this.#prefix.length) this.#prefix[place] = run;
      }
    }
    if (runs.length > 0) this.#notify();
    return isKnown;
  }

  /** Reads the visible and needed rows again, and shows the old rows until the new ones arrive. Others are read when they become visible. */
  async refresh(): Promise<void> {
    const generation = ++this.#generation;
    const size = Math.min(PAGE_MAX, Math.max(FIRST_PAGE, this.#needed));
    const { from, end } = this.#seen;
    const parts = [{ offset: 0, size: from <= size ? Math.min(PAGE_MAX, Math.max(size, end)) : size }];
    if (from > size) parts.push({ offset: from, size: Math.min(PAGE_MAX, end - from) });
    try {
      const pages = await Promise.all(parts.map((part) => this.#search(this.view, part, this.#stop.signal)));
      if (generation !== this.#generation || this.#stop.signal.aborted) return;
      this.#rows = [];
      this.#places = new Map();
      this.#prefix = [];
      for (const [i, page] of pages.entries()) this.#take(page, parts[i]!);
      this.#notify();
    } catch (thrown) {
      if (generation === this.#generation) this.#fail(thrown);
    }
    // A running reader has discarded its page.
    void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#reading !== undefined) return;
    for (let gap = this.#gap(); gap !== undefined; gap = this.#gap()) {
      if (this.#stop.signal.aborted || this.failure !== undefined) return;
      const generation = this.#generation;
      const call = new AbortController();
      this.#reading = { offset: gap.offset, end: gap.offset + gap.size, call };
      try {
        // One after the other, so that the next one is for the rows visible by then.
        // oxlint-disable-next-line no-await-in-loop
        const page = await this.#search(this.view, gap, call.signal);
        this.#reading = undefined;
        if (this.#stop.signal.aborted) return;
        if (generation !== this.#generation) continue;
        const before = this.total;
        this.#take(page, gap);
        this.#notify();
        // The answer was empty: the same request again would never end.
        if (page.runs.length === 0 && this.total === before && this.#gap()?.offset === gap.offset) return;
      } catch (thrown) {
        this.#reading = undefined;
        if (call.signal.aborted && !this.#stop.signal.aborted) continue;
        this.#fail(thrown);
        return;
      }
    }
  }

  /** The first wanted rows that are not loaded; undefined if all are. */
  #gap(): { offset: number; size: number } | undefined {
    const { from, end } = this.#seen;
    if (!this.#hasFirst) {
      return { offset: 0, size: Math.max(FIRST_PAGE, Math.min(PAGE_MAX, this.#needed)) };
    }
    const last = Math.min(end, this.total);
    for (let offset = from; offset < last; offset++) {
      if (this.#rows[offset] === undefined) return { offset, size: Math.max(PAGE, last - offset) };
    }
    const offset = this.#prefix.length;
    const needed = Math.min(this.#needed, this.total);
    return offset < needed ? { offset, size: Math.min(PAGE_MAX, needed - offset) } : undefined;
  }

  #take({ runs, totalCount, position }: RunPage, { offset }: { offset: number }): void {
    for (const [i, run] of runs.entries()) {
      const place = offset + i;
      const [other, before] = [this.#rows[place], this.#places.get(run.id)];
      if (other !== undefined && other.id !== run.id) this.#places.delete(other.id);
      if (before !== undefined && before !== place) this.#clear(before);
      this.#places.set(run.id, place);
      this.#rows[place] = run;
      if (place < this.#prefix.length) this.#prefix[place] = run;
    }
    if (!this.#hasFirst) this.position = position;
    this.#hasFirst = true;
    this.failure = undefined;
    this.total = Number(totalCount);
    for (let place = this.total; place < this.#rows.length; place++) this.#forget(place);
    this.#rows.length = Math.min(this.#rows.length, this.total);
    this.#prefix.length = Math.min(this.#prefix.length, this.total);
    for (let next = this.#rows[this.#prefix.length]; next; next = this.#rows[this.#prefix.length]) {
      this.#prefix.push(next);
    }
  }

  #forget(place: number): void {
    const run = this.#rows[place];
    if (run !== undefined && this.#places.get(run.id) === place) this.#places.delete(run.id);
  }

  #clear(place: number): void {
    this.#rows[place] = undefined;
    if (place < this.#prefix.length) this.#prefix = this.#prefix.slice(0, place);
  }

  #fail(thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.failure = thrown;
    this.#notify();
  }

  #notify(): void {
    this.version++;
    for (const listener of this.#listeners) listener();
  }
}
