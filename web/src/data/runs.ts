import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { RunsView } from "./live-types.ts";

export interface RunPage {
  runs: Run[];
  nextPageToken: string;
  totalCount: bigint;
}

/** One page of a search: SearchRuns, or what stands for it in a test. */
export type SearchPage = (
  view: RunsView,
  pageSize: number,
  pageToken: string,
  signal: AbortSignal,
) => Promise<RunPage>;

/** Small, so that the first rows are there at once. */
export const FIRST_PAGE = 160;
const PAGE = 1_000;
/** For whoever jumps far: pages can only be read one after the other. */
const LARGE_PAGE = 5_000;
/** Rows read ahead of those that are seen. */
const AHEAD = 100;
/** Rows beyond this are read again only when they are scrolled to. */
export const REFRESH_MAX = 2_000;

/**
 * The runs of a view, read page by page as far as somebody looks, and kept current. How many match is known from the first page on, so a table has its full height
 * at once; rows that have not come are undefined.
 *
 * Owned by one page: close it to stop what is under way.
 */
export class RunList {
  readonly view: RunsView;
  /** How many match; 0 before the first page. */
  total = 0;
  /** Why reading stopped; reading goes on with `retry`. */
  failure: unknown = undefined;
  /** Grows with every change, for whoever draws it. */
  version = 0;
  readonly #search: SearchPage;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  #rows: Run[] = [];
  #places = new Map<string, number>();
  #token = "";
  #isEnd = false;
  #hasFirst = false;
  #wanted = 0;
  #reading = false;
  /** A page that was asked for before a refresh belongs to the list before it. */
  #generation = 0;

  constructor(search: SearchPage, view: RunsView) {
    this.#search = search;
    this.view = view;
  }

  /** Read so far, without gaps from the first. */
  get rows(): readonly Run[] {
    return this.#rows;
  }

  get isReady(): boolean {
    return this.#hasFirst;
  }

  get isComplete(): boolean {
    return this.#isEnd;
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
    this.#listeners.clear();
  }

  /** Somebody looks at the rows before `end`. */
  need(end: number): void {
    const wanted = end + AHEAD;
    if (wanted <= this.#wanted && this.#hasFirst) return;
    this.#wanted = Math.max(wanted, this.#wanted);
    void this.#read();
  }

  retry(): void {
    this.failure = undefined;
    this.#tell();
    if (this.#isShort()) void this.#read();
    else void this.refresh();
  }

  /** Puts in what has changed. False when a run is not among the rows that were read. */
  patch(runs: readonly Run[]): boolean {
    let isKnown = true;
    for (const run of runs) {
      const place = this.#places.get(run.id);
      if (place === undefined) isKnown = false;
      else this.#rows[place] = run;
    }
    if (runs.length > 0) this.#tell();
    return isKnown;
  }

  /** Reads the rows again from the first on, and shows the old ones until the new ones are there. */
  async refresh(): Promise<void> {
    const generation = ++this.#generation;
    const size = Math.min(REFRESH_MAX, Math.max(FIRST_PAGE, this.#rows.length));
    try {
      const page = await this.#search(this.view, size, "", this.#stop.signal);
      if (generation !== this.#generation || this.#stop.signal.aborted) return;
      this.#rows = [];
      this.#places = new Map();
      this.#wanted = Math.min(this.#wanted, size);
      this.#take(page);
    } catch (thrown) {
      if (generation === this.#generation) this.#fail(thrown);
    }
    // A reader that was under way has given its page up.
    void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (!this.#stop.signal.aborted && this.failure === undefined && this.#isShort()) {
        const generation = this.#generation;
        const missing = this.#wanted - this.#rows.length;
        const size = this.#hasFirst
          ? missing > LARGE_PAGE
            ? LARGE_PAGE
            : PAGE
          : Math.max(FIRST_PAGE, Math.min(PAGE, missing));
        // Pages follow from each other.
        // oxlint-disable-next-line no-await-in-loop
        const page = await this.#search(this.view, size, this.#token, this.#stop.signal);
        if (generation === this.#generation) this.#take(page);
      }
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      this.#reading = false;
    }
  }

  #isShort(): boolean {
    return !this.#hasFirst || (!this.#isEnd && this.#rows.length < this.#wanted);
  }

  #take({ runs, nextPageToken, totalCount }: RunPage): void {
    for (const run of runs) {
      this.#places.set(run.id, this.#rows.length);
      this.#rows.push(run);
    }
    this.#token = nextPageToken;
    this.#isEnd = nextPageToken === "";
    this.#hasFirst = true;
    this.failure = undefined;
    this.total = this.#isEnd ? this.#rows.length : Math.max(Number(totalCount), this.#rows.length);
    this.#tell();
  }

  #fail(thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.failure = thrown;
    this.#tell();
  }

  #tell(): void {
    this.version++;
    for (const listener of this.#listeners) listener();
  }
}
