import { CairnError } from "#lang/errors.ts";
import type { LogFilter } from "../types/log.ts";
import { addedPoints } from "./added-points.ts";
import { CHANGED } from "../ports/journal.ts";
import type { Changes } from "./changes.ts";
import type { Subscription } from "./subscription.ts";
import type { WatchEvent, WatchNews } from "./event.ts";
import type { KeyFilter } from "./key-filter.ts";
import type { LinePage, LinePages } from "./line-pages.ts";
import { cursorToText, fingerprint, type Cursor, type Part } from "./position.ts";
import type { RightsCheck } from "./rights-check.ts";
import type { RunAnswers, RunsView } from "./run-answers.ts";

/** One event holds about as many points; a single envelope may have more. */
const EVENT_POINTS_MAX = 5_000;
/** Before the first read of a log. */
export const UNREAD = -1;

/** What a client watches, with runs found. */
export interface Watched {
  view: RunsView | undefined;
  series: ReadonlyMap<string, KeyFilter>;
  logs: readonly FollowedLog[];
}

export interface FollowedLog {
  runId: string;
  filter: LogFilter;
  /** The number of the line to read next. */
  next: number;
  /** Every line noted up to this position has been read. */
  checkedAt: number;
}

export interface WatcherParts {
  watched: Watched;
  cursor: Cursor;
  rights: RightsCheck;
  /** From before its runs were looked for. */
  foundAt: number;
  /** The namespace of a run as it is now; undefined when it is purged. */
  findPlace(runId: string): Promise<string | undefined>;
  /** Rights are those of all changes that were acknowledged before the call. */
  catchUpAccess(): Promise<void>;
  subscription: Subscription;
  changes: Changes;
  answers: RunAnswers;
  lines: LinePages;
  stillMs: number;
}

/**
 * A watcher: it knows up to where it was notified and makes the next event on request, from all changes until then.
 * A client that does not read costs only this object.
 */
export class Watcher {
  readonly #watched: Watched;
  readonly #cursor: Cursor;
  readonly #rights: RightsCheck;
  readonly #subscription: Subscription;
  readonly #changes: Changes;
  readonly #answers: RunAnswers;
  readonly #lines: LinePages;
  readonly #stillMs: number;
  readonly #begunAt: number;
  readonly #runIds: readonly string[];
  readonly #namedRuns: ReadonlySet<string>;
  readonly #findPlace: WatcherParts["findPlace"];
  readonly #catchUpAccess: WatcherParts["catchUpAccess"];
  /** Moves of watched runs up to this position have been checked. */
  #placedAt: number;
  readonly #fingerprint: number;

  constructor(parts: WatcherParts) {
    this.#watched = parts.watched;
    this.#cursor = parts.cursor;
    this.#rights = parts.rights;
    this.#subscription = parts.subscription;
    this.#changes = parts.changes;
    this.#answers = parts.answers;
    this.#lines = parts.lines;
    this.#stillMs = parts.stillMs;
    this.#begunAt = parts.changes.position;
    this.#placedAt = parts.foundAt;
    this.#findPlace = parts.findPlace;
    this.#catchUpAccess = parts.catchUpAccess;
    this.#runIds = [...parts.watched.series.keys()];
    this.#namedRuns = new Set([...this.#runIds, ...parts.watched.logs.map(({ runId }) => runId)]);
    this.#fingerprint = fingerprint(this.#runIds);
  }

  /**
   * Runs until the subscription is closed, the rights change or something fails. `started`, with its position, and
   * `first` are sent right away.
   */
  async *events(started: string, first: readonly WatchNews[]): AsyncGenerator<WatchEvent, never> {
    yield { kind: "started", position: started };
    for (const news of first) yield this.#event(news);
    for (let toldMs = performance.now(); ;) {
      for await (const news of this.#round()) {
        // Rights may have changed while this was made, or while the one before was being sent.
        await this.#requireRights();
        yield this.#event(news);
        toldMs = performance.now();
      }
      await this.#requireRights();
      // Counted from the last event: changes that the caller may not see must not delay it.
      if (performance.now() - toldMs >= this.#stillMs) {
        yield this.#event({ kind: "still" });
        toldMs = performance.now();
      }
      await this.#subscription.wait(Math.max(1, toldMs + this.#stillMs - performance.now()));
    }
  }

  #event(news: WatchNews): WatchEvent {
    return { ...news, position: cursorToText(this.#cursor, this.#changes, this.#fingerprint) };
  }

  /** Points and lines that the caller could read are not sent once their run is where it may not read them. */
  async #requireRights(): Promise<void> {
    const { position, floor } = this.#changes;
    const placedAt = this.#placedAt;
    if (position === placedAt) {
      this.#rights.mask();
      return;
    }
    const isForgotten = floor > placedAt;
    const isAnyMoved = isForgotten || this.#changes.namespaceMovesSince(placedAt).length > 0;
    // What is bound and closed on a namespace has moved with it.
    if (isAnyMoved) await this.#catchUpAccess();
    this.#rights.mask();
    for (const runId of this.#namedRuns) {
      const isMoved = this.#changes.lastOf(runId, CHANGED.moved) > placedAt;
      if (!isMoved && !isAnyMoved) continue;
      const namespace = await this.#findPlace(runId);
      if (namespace !== undefined) this.#rights.requireSeen({ runId, namespace });
    }
    this.#placedAt = position;
  }

  async *#round(): AsyncGenerator<WatchNews> {
    yield* this.#points();
    for (const log of this.#watched.logs) yield* this.#linesOf(log);
    yield* this.#runs();
  }

  async *#points(): AsyncGenerator<WatchNews> {
    const cursor = this.#cursor;
    // The rest of a round that a disconnect interrupted.
    if (cursor.part !== undefined) yield* this.#pointsUpTo(cursor.part);
    yield* this.#pointsUpTo({ upTo: this.#changes.position, run: 0, at: cursor.points });
  }

  async *#pointsUpTo(part: Part): AsyncGenerator<WatchNews> {
    const cursor = this.#cursor;
    for (; part.run < this.#runIds.length; part.run++, part.at = cursor.points) {
      const runId = this.#runIds[part.run]!;
      if (this.#hasNoPointsSince(runId, part.at)) continue;
      while (part.at < part.upTo) {
        const { at: after, upTo } = part;
        const held =
          this.#changes.points.read(runId, after, upTo, EVENT_POINTS_MAX) ??
          (await this.#changes.readPoints({ runId, after, upTo, pointsMax: EVENT_POINTS_MAX }));
        if (held === undefined) {
          cursor.part = undefined;
          cursor.points = this.#changes.position;
          yield { kind: "behind", what: ["series"] };
          return;
        }
        part.at = held.upTo;
        const series = addedPoints(held.envelopes, this.#watched.series.get(runId)!);
        if (series.length === 0) continue;
        cursor.part = part;
        yield { kind: "points", runId, series };
      }
    }
    cursor.points = part.upTo;
    cursor.part = undefined;
  }

  #hasNoPointsSince(runId: string, position: number): boolean {
    return Math.max(this.#changes.lastOf(runId, CHANGED.points), this.#changes.floor) <= position;
  }

  async *#linesOf(log: FollowedLog): AsyncGenerator<WatchNews> {
    const { runId } = log;
    for (let more = this.#mayHaveLines(log); more;) {
      const read = await this.#readLines(log);
      await this.#changes.turns.take();
      if (read === undefined) {
        yield { kind: "behind", what: ["logs"] };
        continue;
      }
      const { lines, next, total } = read.page;
      // Lines are as of now: the move of the run before them may not be known yet.
      if (read.namespace !== undefined) this.#rights.requireSeen({ runId, namespace: read.namespace });
      const other = total < log.next || (log.checkedAt !== UNREAD && log.checkedAt < this.#changes.resetAt);
      more = read.page.more && !other;
      if (!more) log.checkedAt = read.position;
      log.next = other ? total : next;
      if (other) yield { kind: "behind", what: ["logs"] };
      if (other || lines.length > 0)
        yield { kind: "lines", runId, lines: other ? [] : lines, next: log.next };
    }
  }

  #mayHaveLines(log: FollowedLog): boolean {
    const lastAt = Math.max(this.#changes.lastOf(log.runId, CHANGED.lines), this.#changes.floor);
    if (lastAt > log.checkedAt) return true;
    log.checkedAt = this.#changes.position;
    return false;
  }

  /** undefined where lines are damaged: they are skipped, and a read names them. */
  async #readLines(log: FollowedLog): Promise<LinePage | undefined> {
    try {
      return await this.#lines.read(log.runId, log.filter, log.next);
    } catch (thrown) {
      const { code, facts } = CairnError.from(thrown);
      const next = Number(facts["next"]);
      if (code !== "corrupt" || !(next > log.next)) throw thrown;
      log.next = next;
      return undefined;
    }
  }

  async *#runs(): AsyncGenerator<WatchNews> {
    const cursor = this.#cursor;
    const { view } = this.#watched;
    if (view === undefined) {
      cursor.runs = this.#changes.position;
      return;
    }
    while (cursor.runs < this.#changes.position) {
      const asker = { view, mask: this.#rights.mask(), begunAt: this.#begunAt };
      const answer = await this.#answers.changedSince(asker, cursor.runs);
      // All watchers that wait for this answer get it at once; they must not all send it at once.
      await this.#changes.turns.take();
      cursor.runs = answer?.position ?? this.#changes.position;
      if (answer === undefined) yield { kind: "behind", what: ["runs"] };
      else if (answer.runs.length > 0 || answer.left.length > 0) {
        yield { kind: "runs", runs: answer.runs, left: answer.left };
      }
      if (answer?.more !== true) return;
    }
  }
}
