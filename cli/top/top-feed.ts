import { Code } from "@connectrpc/connect";
import type { Expression } from "#lang/query/ast.ts";
import { andCondition } from "#lang/query/draft/and-condition.ts";
import { Axis, SeriesKind, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { MatchOp, type Sample } from "#proto/cairn/v1/series_pb.ts";
import type { WatchEvent } from "#proto/cairn/v1/watch_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import type { Connection } from "#sdk/follow-stream.ts";
import { searchRuns } from "#sdk/pages.ts";
import { inParallel } from "#base/in-parallel.ts";
import { retry } from "#sdk/retry.ts";
import { labelsText, seriesMarks } from "#sdk/series.ts";
import { watch } from "#sdk/watch.ts";
import { printable } from "../output/text.ts";
import { History } from "./history.ts";
import { findObjective } from "../runs/objectives.ts";
import type { FollowedKey, TopRow } from "./top-row.ts";
import type { TopState } from "./top-state.ts";

/** More would not fit on a screen; the filter of the command finds the others. */
const RUNS_MAX = 200;
const SERIES_MAX = 500;
const LOADED_AT_ONCE = 4;
const LOADS_MAX = 3;
/** Metrics with a history from the beginning; the history of others begins when they are shown. */
const LOADED_KEYS = 2;
const DETAILED_KEYS = 24;
const HISTORY_BUCKETS = 240;
const IS_RUNNING: Expression = {
  op: "compare",
  field: { of: "run", name: "status" },
  comparison: "=",
  value: "running",
};
/** Runs that start within this time are handled together. */
const REOPEN_MS_MIN = 500;

export interface FeedOptions {
  query: string;
  namespace: string;
  /** Metrics that the user named; else the objective of the namespace. */
  metrics: readonly string[];
}

/** Keeps the state of the live view up to date from one Watch stream. */
export class TopFeed {
  readonly #server: Cairn;
  readonly #state: TopState;
  readonly #options: FeedOptions;
  readonly #onChange: () => void;
  /** Metrics of objectives; each namespace is looked up once. */
  readonly #objectives = new Map<string, Promise<string[]>>();
  /** Runs whose points the open stream brings. */
  #watched: ReadonlySet<string> = new Set();
  /** Of the first search, then of the last event: a watch from there misses nothing. */
  #position = "";
  /** Runs whose histories were read. */
  readonly #loaded = new Set<string>();
  /** More runs match than are shown. */
  #isCut = false;
  /** Why the stream is lost; undefined while it is not. */
  #lost: Failure | undefined;
  /** Until then, transient failures are retried; without it, they are errors at once. */
  #stop: AbortSignal | undefined;

  constructor(server: Cairn, state: TopState, options: FeedOptions, onChange: () => void) {
    this.#server = server;
    this.#state = state;
    this.#options = options;
    this.#onChange = onChange;
  }

  /** The running runs, with histories. Throws what the server refuses. */
  async read(): Promise<void> {
    this.#position = await this.#search();
    await this.#load(this.#running());
  }

  /** Runs until the signal is aborted; a lost connection is shown in the state and retried. */
  async run(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    try {
      for (;;) await this.#follow(stop);
    } catch (thrown) {
      if (!stop.aborted) throw thrown;
    }
  }

  /** Histories of all metrics of one run, for its details. */
  async loadDetails(row: TopRow): Promise<void> {
    await this.#loadRow(row, DETAILED_KEYS);
    this.#onChange();
  }

  /** Which runs are running, and how those ended that are not any more. Returns the position of the answer. */
  async #search(): Promise<string> {
    const search = {
      query: `${this.#query()} order by started desc`,
      namespace: this.#options.namespace,
      pageSize: RUNS_MAX,
      columns: ["params", "tags"],
    };
    const { runs, totalCount, position } = await this.#ask(() => searchRuns(this.#server, search));
    this.#state.matching = Number(totalCount);
    this.#isCut = runs.length < totalCount;
    for (const run of runs) this.#state.putRun(run, Date.now());
    const running = new Set(runs.map(({ id }) => id));
    for (const id of this.#state.rows.keys()) if (!running.has(id)) await this.#leave(id);
    return position;
  }

  #query(): string {
    return andCondition(this.#options.query, IS_RUNNING);
  }

  /** One watch, until a run starts whose points it does not bring. */
  async #follow(stop: AbortSignal): Promise<void> {
    const running = this.#running().slice(0, RUNS_MAX);
    this.#watched = new Set(running.map(({ run }) => run.id));
    const call = new AbortController();
    const openedMs = performance.now();
    let reopen: NodeJS.Timeout | undefined;
    const reopenIfNeeded = () => {
      if (call.signal.aborted || reopen !== undefined || !this.#hasUnwatched()) return;
      const waitMs = Math.max(0, REOPEN_MS_MIN - (performance.now() - openedMs));
      reopen = setTimeout(() => call.abort(), waitMs);
    };
    const request = {
      runs: { query: this.#query(), namespace: this.#options.namespace, columns: ["params", "tags"] },
      series: [...this.#watched].map((id) => ({ run: { id } })),
      position: this.#position,
    };
    // Their points up to the position are in no event.
    const late = running.filter(({ run }) => !this.#loaded.has(run.id));
    if (late.length > 0)
      void (this.#isCut ? this.#catchUp(reopenIfNeeded) : this.#beside(() => this.#load(late)));
    const signal = AbortSignal.any([stop, call.signal]);
    const onConnection = ({ failure }: Connection) => this.#showTrouble((this.#lost = failure));
    try {
      for await (const event of watch(this.#server, request, { signal, onConnection })) {
        await this.#take(event, reopenIfNeeded);
        this.#position = event.position;
        reopenIfNeeded();
        this.#onChange();
      }
    } catch (thrown) {
      stop.throwIfAborted();
      if (!call.signal.aborted && !(await this.#hasLeft(thrown))) throw thrown;
    } finally {
      clearTimeout(reopen);
      // Pending reads must not open a watch any more.
      call.abort();
    }
  }

  /** Whether a watched run is gone, so that it must be left out of the next watch. */
  async #hasLeft(thrown: unknown): Promise<boolean> {
    if (Failure.from(thrown).code !== Code.NotFound) return false;
    await this.#search();
    return [...this.#watched].some((id) => !this.#state.rows.has(id));
  }

  #hasUnwatched(): boolean {
    if (this.#watched.size >= RUNS_MAX) return false;
    return [...this.#state.rows.values()].some(
      ({ run, isRunning }) => isRunning && !this.#watched.has(run.id),
    );
  }

  async #take({ event }: WatchEvent, onSearched: () => void): Promise<void> {
    const nowMs = Date.now();
    switch (event.case) {
      case "runs":
        for (const run of event.value.runs) {
          const isNew = !this.#state.rows.has(run.id);
          if (isNew && this.#state.rows.size >= RUNS_MAX) {
            this.#isCut = true;
            continue;
          }
          this.#state.putRun(run, nowMs);
          if (isNew) this.#state.matching++;
        }
        for (const id of event.value.left) {
          if (this.#state.rows.get(id)?.isRunning === true) this.#state.matching--;
          await this.#leave(id);
        }
        return;
      case "points":
        this.#state.rows.get(event.value.runId)?.addPoints(event.value.series, nowMs);
        return;
      case "behind":
        void this.#catchUp(onSearched);
        return;
      default:
    }
  }

  /** A run that does not match any more: it is shown how it ended. */
  async #leave(id: string): Promise<void> {
    const row = this.#state.rows.get(id);
    if (row === undefined || row.endedMs !== undefined) return;
    try {
      row.update(await this.#ask(() => this.#server.runs.getRun({ run: { id } })), Date.now());
    } catch (thrown) {
      // It was purged, or is not visible any more: then there is nothing to show.
      if (Failure.from(thrown).code !== Code.NotFound) throw thrown;
      this.#state.rows.delete(id);
    }
    // It is running, but not among the requested ones.
    if (row.endedMs === undefined) this.#state.rows.delete(id);
  }

  /** Changes were missed. */
  #catchUp(onSearched: () => void): Promise<void> {
    return this.#beside(async () => {
      await this.#search();
      onSearched();
      await this.#load(this.#running());
    });
  }

  /** Reads while a watch is open. */
  async #beside(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (thrown) {
      // A call that is refused here is refused for the watch as well, which ends it.
      if (this.#stop?.aborted !== true && !(thrown instanceof Failure)) throw thrown;
    }
    this.#onChange();
  }

  #running(): TopRow[] {
    return [...this.#state.rows.values()].filter(({ isRunning }) => isRunning);
  }

  async #load(rows: readonly TopRow[]): Promise<void> {
    for (const { run } of rows) this.#loaded.add(run.id);
    await inParallel(rows, LOADED_AT_ONCE, async (row) => {
      await this.#loadRow(row, LOADED_KEYS);
      this.#onChange();
    });
  }

  #judgedBy(namespace: string): Promise<string[]> {
    let asked = this.#objectives.get(namespace);
    if (asked === undefined) {
      asked = findObjective(this.#server, namespace).then((held) =>
        held === undefined ? [] : [held.metric],
      );
      asked.catch(() => this.#objectives.delete(namespace));
      this.#objectives.set(namespace, asked);
    }
    return asked;
  }

  /** Again when too many points arrived meanwhile. */
  async #loadRow(row: TopRow, keysMax: number): Promise<void> {
    for (let left = LOADS_MAX; left > 0 && !(await this.#loadOnce(row, keysMax)); left--);
  }

  async #loadOnce(row: TopRow, keysMax: number): Promise<boolean> {
    const run = { id: row.run.id };
    const hold = row.hold();
    const { metrics } = this.#options;
    row.favourites = metrics.length > 0 ? metrics : await this.#judgedBy(row.run.namespace);
    const listed = await this.#ask(() => this.#server.metrics.listSeries({ run, pageSize: SERIES_MAX }));
    const hasMore = listed.nextPageToken !== "";
    const series = hasMore ? [...(await this.#favouritesOf(row)), ...listed.series] : listed.series;
    row.describe(series, hasMore);
    const first = firstLabelSets(series);
    const before = new Map(row.keys);
    // Read first, because the row decides which metrics matter.
    for (const [key, { labels, summary }] of first) {
      if (!row.keys.has(key)) row.keys.set(key, lastOnly(key, labels, summary?.last));
    }
    const wanted = row.shown(keysMax);
    const read = await this.#readHistories(
      run,
      wanted.flatMap((key) => first.get(key) ?? []),
    );
    for (const [key, { labels, summary }] of first) {
      if (!read.has(key)) read.set(key, before.get(key) ?? lastOnly(key, labels, summary?.last));
    }
    return row.load([...read.values()], hold);
  }

  /** By name: of a run with very many series they may be on any page. */
  async #favouritesOf({ run: { id }, favourites }: TopRow): Promise<SeriesInfo[]> {
    const pages = await inParallel(favourites, LOADED_AT_ONCE, (value) => {
      const asked = { run: { id }, matchers: [{ op: MatchOp.EQUAL, value }], pageSize: 1 };
      return this.#ask(() => this.#server.metrics.listSeries(asked));
    });
    return pages.flatMap(({ series }) => series);
  }

  async #readHistories(
    run: { id: string },
    series: readonly SeriesInfo[],
  ): Promise<Map<string, FollowedKey>> {
    const read = new Map<string, FollowedKey>();
    if (series.length === 0) return read;
    const answer = await this.#ask(() =>
      this.#server.metrics.readSeries({
        series: series.map(({ key, labels }) => ({ run, key, labels })),
        axis: Axis.STEP,
        buckets: HISTORY_BUCKETS,
      }),
    );
    const listed = new Map(series.map(({ key, summary }) => [key, summary?.last]));
    for (const data of answer.series) {
      const history = History.of(seriesMarks(data, Axis.STEP, answer));
      read.set(data.key, {
        key: data.key,
        labels: labelsText(data.labels),
        history,
        isWhole: true,
        last: listed.get(data.key),
      });
    }
    return read;
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    let hasFailed = false;
    const answer = await retry(call, {
      url: this.#server.url,
      signal: this.#stop,
      patienceMs: this.#stop === undefined ? 0 : Infinity,
      onFailure: (failure) => {
        hasFailed = true;
        this.#showTrouble(failure);
      },
    });
    if (hasFailed) this.#showTrouble(this.#lost);
    return answer;
  }

  #showTrouble(failure: Failure | undefined): void {
    this.#state.trouble = failure === undefined ? "" : printable(failure.message.split("\n")[0]!);
    this.#onChange();
  }
}

/** One label set per key: of a run with ranks, the first of them. */
function firstLabelSets(series: readonly SeriesInfo[]): Map<string, SeriesInfo> {
  const first = new Map<string, SeriesInfo>();
  for (const info of series) {
    if (info.kind !== SeriesKind.TEXT && !first.has(info.key)) first.set(info.key, info);
  }
  return first;
}

/** A metric of which only the last value was requested. */
function lastOnly(
  key: string,
  labels: Readonly<Record<string, string>>,
  last: Sample | undefined,
): FollowedKey {
  const history = new History();
  if (last !== undefined) history.add(Number(last.step ?? 0), last.value);
  return { key, labels: labelsText(labels), history, isWhole: false, last };
}
