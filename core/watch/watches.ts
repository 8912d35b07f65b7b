import type { Clock } from "#base/clock.ts";
import type { Caller } from "../access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { checkedFilter, checkedFrom } from "../types/log.ts";
import { requireAtMost } from "../types/check.ts";
import type { Follower } from "../journal/follower.ts";
import type { LogStore } from "../ports/log-store.ts";
import type { RunSearch } from "../ports/run-search.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import type { Runs } from "../runs/runs.ts";
import type { Changes } from "./changes.ts";
import type { Subscription } from "./subscription.ts";
import type { WatchedKind, WatchEvent, WatchNews, WatchRequest } from "./event.ts";
import { KeyFilter } from "./key-filter.ts";
import { LinePages } from "./line-pages.ts";
import { cursorFromText, cursorToText, earliest, fingerprint, NOWHERE } from "./position.ts";
import type { Cursor, Resumed } from "./position.ts";
import { RightsCheck } from "./rights-check.ts";
import { RunAnswers, viewOf } from "./run-answers.ts";
import { UNREAD, Watcher, type FollowedLog, type Watched } from "./watcher.ts";

const RETRY_MS = 5_000;
const STILL_MS = 15_000;

/** Streams of changes of runs, points and logs. */
export class Watches {
  readonly #store: RunStore;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #follower: Follower;
  readonly #answers: RunAnswers;
  readonly #lines: LinePages;
  readonly #stillMs: number;
  readonly #watchersMax: number;
  readonly #watchedRunsMax: number;
  #watchers = 0;
  #watchedRuns = 0;
  #events = 0;

  constructor(parts: {
    store: RunStore;
    search: RunSearch;
    logs: LogStore;
    runs: Runs;
    clock: Clock;
    changes: Changes;
    follower: Follower;
    /** How long a stream is idle before it sends a keep-alive. */
    stillMs?: number;
    watchersMax?: number;
    watchedRunsMax?: number;
  }) {
    this.#watchersMax = parts.watchersMax ?? limits.watchersMax;
    this.#watchedRunsMax = parts.watchedRunsMax ?? limits.watchedRunsMax;
    this.#stillMs = parts.stillMs ?? STILL_MS;
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
    this.#changes = parts.changes;
    this.#follower = parts.follower;
    this.#answers = new RunAnswers(parts);
    this.#lines = new LinePages(parts.logs, parts.changes, (runId) => this.#findPlace(runId));
  }

  /** The current number of watchers, and totals since the start. */
  get counts(): {
    watchers: number;
    watchedRuns: number;
    heldBytes: number;
    events: number;
    searches: number;
  } {
    return {
      watchers: this.#watchers,
      watchedRuns: this.#watchedRuns,
      heldBytes: this.#changes.points.sizeBytes,
      events: this.#events,
      searches: this.#answers.searches,
    };
  }

  /**
   * First `started`; what is acknowledged after its position follows. An event is made on
   * request, from everything that happened until then. Ends by throwing only: `aborted` by the
   * signal or (ACCESS_CHANGED) when the caller's rights have changed, `unauthenticated` when its
   * credential has ended, `unavailable` when the server stops.
   */
  async *watch(caller: Caller, request: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const rights = new RightsCheck(caller);
    await this.#changes.catchUp();
    const foundAt = this.#changes.position;
    const watched = await this.#find(caller, request);
    const runIds = new Set([...watched.series.keys(), ...watched.logs.map(({ runId }) => runId)]);
    const resumed = await this.#resume(watched, request);
    // From here to the end of `#begin` nothing waits, so no change comes between.
    const subscription = this.#enter(watched, runIds, signal);
    try {
      const { cursor, started, first } = this.#begin(watched, request, resumed);
      const changes = this.#changes;
      const watcher = new Watcher({
        watched,
        cursor,
        rights,
        foundAt,
        findPlace: (runId) => this.#findPlace(runId),
        catchUpAccess: () => this.#follower.catchUp(),
        subscription,
        changes,
        answers: this.#answers,
        lines: this.#lines,
        stillMs: this.#stillMs,
      });
      for await (const event of watcher.events(started, first)) {
        this.#events++;
        yield event;
      }
    } finally {
      subscription.close();
    }
  }

  /** Finds what the request names where it is now, or throws as reading it would. */
  async #find(caller: Caller, request: WatchRequest): Promise<Watched> {
    const { runs, series, logs, since } = request;
    requireAtMost(since.length, limits.watchSinceMax, "positions of reads in one watch");
    requireAtMost(series.length, limits.watchSeriesMax, "series selectors in one watch");
    requireAtMost(logs.length, limits.watchLogsMax, "logs in one watch");
    if (runs === undefined && series.length === 0 && logs.length === 0) {
      throw new CairnError("invalid", "cannot watch nothing", { hint: "give runs, series or logs" });
    }
    const view = runs && viewOf(runs, this.#clock.nowUs(), caller.principal.name);
    const filters = new Map<string, KeyFilter>();
    for (const { run, glob } of series) {
      const { id } = await this.#runs.getHead(caller, run);
      const filter = filters.get(id) ?? new KeyFilter();
      filter.add(glob);
      filters.set(id, filter);
    }
    const followed: FollowedLog[] = [];
    for (const { run, filter, from } of logs) {
      checkedFilter(filter);
      if (from !== undefined) checkedFrom(from);
      const { id: runId } = await this.#runs.getHead(caller, run);
      const { position } = this.#changes;
      const next = from ?? (await this.#lines.count(runId));
      followed.push({ runId, filter, next, checkedAt: from === undefined ? position : UNREAD });
    }
    return { view, series: filters, logs: followed };
  }

  async #findPlace(id: string): Promise<string | undefined> {
    const [run] = await this.#store.findRuns({ by: "id", id }, { omit: HEAVY_PARTS });
    return run?.namespace;
  }

  /** From now on nothing is missed. Resources taken here are released when the subscription is closed. */
  #enter({ view, series }: Watched, runIds: ReadonlySet<string>, signal: AbortSignal): Subscription {
    requireRoom(this.#watchers + 1, this.#watchersMax, "watchers");
    requireRoom(this.#watchedRuns + runIds.size, this.#watchedRunsMax, "watched runs");
    this.#watchers++;
    this.#watchedRuns += runIds.size;
    for (const runId of series.keys()) this.#changes.watchPoints(runId);
    return this.#changes.subscribe({
      ...(view === undefined && { runs: runIds }),
      signal,
      onClose: () => {
        this.#watchers--;
        this.#watchedRuns -= runIds.size;
        for (const runId of series.keys()) this.#changes.points.unwatch(runId);
      },
    });
  }

  /** Where it begins, and what is sent first. */
  #begin(
    watched: Watched,
    request: WatchRequest,
    resumed: Resumed,
  ): { cursor: Cursor; started: string; first: WatchNews[] } {
    const first: WatchNews[] = [];
    const { cursor, started, behind } = this.#place(watched, request, resumed);
    if (behind.length > 0) first.push({ kind: "behind", what: behind });
    request.logs.forEach(({ from }, i) => {
      const { runId, next } = watched.logs[i]!;
      // Sent now, so that it can be used as `from` after a disconnect before the first line.
      if (from === undefined) first.push({ kind: "lines", runId, lines: [], next });
    });
    return { cursor, started, first };
  }

  /** Where the request begins, if the changes since are known. */
  async #resume(watched: Watched, { position: text, since }: WatchRequest): Promise<Resumed> {
    const changes = this.#changes;
    await changes.catchUp();
    const runs = fingerprint(watched.series.keys());
    const given = text === "" ? since : [text, ...since];
    const resumed = given.map((one) => cursorFromText(one, changes, runs));
    const begin = earliest(resumed);
    if (begin === undefined) return undefined;
    const last = Math.max(...resumed.map((one) => lastOf(one!.cursor)));
    // A forgotten position is detected when it is used; one that never existed is of another journal.
    await changes.reachBack(Math.min(begin.cursor.runs, begin.cursor.points), last);
    return last <= changes.position ? begin : undefined;
  }

  /** A client that resumes from `started` is notified of the same, also of the kinds it is behind with. */
  #place(
    watched: Watched,
    { position: text, since, logs }: WatchRequest,
    resumed: Resumed,
  ): { cursor: Cursor; started: string; behind: WatchedKind[] } {
    const { position } = this.#changes;
    const now: Cursor = { runs: position, points: position, part: undefined };
    if (text === "" && since.length === 0) {
      return { cursor: now, started: cursorToText(now, this.#changes, 0), behind: [] };
    }
    const behind: WatchedKind[] = [];
    if (resumed === undefined && watched.view !== undefined) behind.push("runs");
    if (resumed?.partKnown !== true && watched.series.size > 0) behind.push("series");
    // Positions do not include lines: those have numbers.
    if (logs.some(({ from }) => from === undefined)) behind.push("logs");
    if (resumed === undefined) return { cursor: now, started: NOWHERE, behind };
    const { cursor, partKnown, runs } = resumed;
    const started = cursorToText(cursor, this.#changes, runs);
    return { cursor: partKnown ? cursor : { ...now, runs: cursor.runs }, started, behind };
  }
}

/** The last position in it. */
function lastOf({ runs, points, part }: Cursor): number {
  return Math.max(runs, points, part?.upTo ?? 0);
}

function requireRoom(count: number, max: number, what: string): void {
  if (count <= max) return;
  throw new CairnError("exhausted", `cannot watch: there are ${max} ${what} already`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(max) },
    retryAfterMs: RETRY_MS,
  });
}
