import type { Clock } from "#base/clock.ts";
import { maskReadsNamespace, maskReadsRun, type ReadMask } from "../types/scope.ts";
import { limits } from "#lang/limits.ts";
import { isUnder, parseNamespace } from "#lang/namespace-path.ts";
import { sizeOf } from "../types/size.ts";
import type { RunSearch } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Expression, Query } from "#lang/query/ast.ts";
import { readQuery } from "#lang/query/check.ts";
import { printQuery } from "#lang/query/print.ts";
import { parseColumns, rowsWithMetrics, unread, type Projection } from "../runs/columns.ts";
import { toFoundRuns, type FoundRun } from "../runs/found-runs.ts";
import { CHANGED, type NamespaceMove } from "../ports/journal.ts";
import type { Changes } from "./changes.ts";
import type { WatchRequest } from "./event.ts";
import { Lanes } from "#base/lanes.ts";
import { PerWave } from "./per-wave.ts";
import type { ChangedRun } from "./recent-runs.ts";

/** How many changed runs are read, and sent, at once. */
const PAGE = 200;
const LANES = 4;
const EVERY_RUN: Query = { where: undefined, orderBy: [] };

/** Which runs are watched, and which parts of them. */
export interface RunsView {
  query: string | Query;
  /** The name of the principal that watches. */
  me: string;
  under: string;
  projection: Projection;
  /** The kinds of change that can make a difference. */
  kinds: number;
  /** Equal for views that are the same. */
  key: string;
}

/** Throws `invalid` as a search would. */
export function viewOf(asked: NonNullable<WatchRequest["runs"]>, nowUs: number, me: string): RunsView {
  const query = readQuery(asked.query, { nowUs, me });
  const projection = parseColumns(asked.columns);
  const under = parseNamespace(asked.namespace, { root: true });
  // Points change nothing of a run but its metrics.
  const points = projection.metrics.length > 0 || mentionsMetrics(query) ? CHANGED.points : 0;
  return {
    query: asked.query,
    me,
    under,
    projection,
    kinds: CHANGED.run | CHANGED.artifacts | points,
    key: JSON.stringify([textOf(asked.query), under, asked.columns, ...(mayMeanMe(asked.query) ? [me] : [])]),
  };
}

/** Then callers with the same rights have different answers. */
function mayMeanMe(query: string | Query): boolean {
  return typeof query === "string" && /\bme\b/i.test(query);
}

/** A printed tree has the same meaning as a text, also later: there is no `now` in it. */
function textOf(query: string | Query): string {
  return typeof query === "string" ? query : printQuery(query);
}

/** The state of the runs that changed after a position. */
export interface RunsAnswer {
  runs: FoundRun[];
  left: string[];
  /** Everything up to here was sent. */
  position: number;
  /** More has changed than fits. It may be empty: the answer was made for others too. */
  more: boolean;
}

/** An answer for all watchers with a position between its beginning and its end. */
interface Page {
  readonly from: number;
  /** Where it ends: Infinity for the last one, undefined until it is known. */
  position: number | undefined;
  readonly answer: Promise<PageAnswer | undefined>;
}

interface PageAnswer extends RunsAnswer {
  /** When a namespace was moved last that concerns the view; 0 for never. */
  namespaceMovedAt: number;
  /** When each of its runs changed. */
  changedAt: ReadonlyMap<string, number>;
  /** Purged, or moved to where the asker may not read them. */
  gone: readonly string[];
}

/** The watcher. */
export interface RunsAsker {
  view: RunsView;
  mask: ReadMask | undefined;
  /** When it began to watch with these rights. */
  begunAt: number;
}

/** Watchers of the same view with the same rights, in one wave. */
interface Group {
  /** When the first of them asked. */
  position: number;
  pages: Page[];
}

/**
 * Searches for runs that changed. Watchers of the same view with the same rights share the
 * answers: each takes from one what is after its own position. Only a few searches are under way at a
 * time, so that many watchers of different views are served slower but do not block other requests.
 */
export class RunAnswers {
  readonly #store: RunStore;
  readonly #search: RunSearch;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #lanes = new Lanes(LANES);
  readonly #groups: PerWave<Group>;
  #searches = 0;

  constructor(parts: { store: RunStore; search: RunSearch; clock: Clock; changes: Changes }) {
    this.#store = parts.store;
    this.#search = parts.search;
    this.#clock = parts.clock;
    this.#changes = parts.changes;
    this.#groups = new PerWave(parts.changes);
  }

  /** How many were made. */
  get searches(): number {
    return this.#searches;
  }

  /**
   * undefined when the changes since are no longer known, when a namespace of the view was moved, or when it is unknown which
   * changes the watcher may see: a run that was purged, or moved out of sight, before the watcher came may have been closed to it.
   */
  async changedSince({ view, mask, begunAt }: RunsAsker, since: number): Promise<RunsAnswer | undefined> {
    for (;;) {
      if (since < this.#changes.floor) return undefined;
      const answer = await this.#pageAt(view, mask, since).answer;
      // So much has happened while this waited for its turn.
      if (answer === undefined) continue;
      // Any number of runs came and left with it.
      if (answer.namespaceMovedAt > since) return undefined;
      const isNews = (id: string): boolean => answer.changedAt.get(id)! > since;
      const isOld = (id: string): boolean => answer.changedAt.get(id)! <= begunAt;
      if (mask !== undefined && answer.gone.some((id) => isNews(id) && isOld(id))) return undefined;
      return {
        runs: answer.runs.filter(({ run }) => isNews(run.id)),
        left: answer.left.filter(isNews),
        position: Math.max(answer.position, since),
        more: answer.more,
      };
    }
  }

  /** One that exists or is being made and begins at or before the position, or a new one. */
  #pageAt(view: RunsView, mask: ReadMask | undefined, since: number): Page {
    const key = `${view.key}\n${mask?.id ?? ""}`;
    const group = this.#groups.get(key, () => ({
      position: this.#changes.position,
      pages: [],
    }));
    const known = group.pages.find(({ from, position = Infinity }) => from <= since && since < position);
    if (known !== undefined) return known;
    const from = this.#beginning(group, since);
    const page: Page = {
      from,
      position: undefined,
      answer: this.#lanes.run(() => this.#ask(view, mask, from)),
    };
    group.pages.push(page);
    page.answer.then(
      (answer) => {
        if (answer === undefined) group.pages.splice(group.pages.indexOf(page), 1);
        else {
          page.position = answer.more ? answer.position : Infinity;
          this.#groups.grow(key, group, sizeOf(answer.runs));
        }
      },
      () => group.pages.splice(group.pages.indexOf(page), 1),
    );
    return page;
  }

  /**
   * Watchers came or were notified at different moments, so they have different positions. Going back to
   * a power of two of changes makes few groups of them.
   */
  #beginning({ position, pages }: Group, since: number): number {
    let from = since;
    if (position > since) from = position - 2 ** Math.ceil(Math.log2(position - since));
    from = Math.max(from, this.#changes.floor);
    for (const { position: end = 0 } of pages) if (end <= since) from = Math.max(from, end);
    return from;
  }

  async #ask(view: RunsView, mask: ReadMask | undefined, from: number): Promise<PageAnswer | undefined> {
    // As of this moment: runs found now need not be sent again.
    await this.#changes.catchUp();
    if (from < this.#changes.floor) return undefined;
    const { position } = this.#changes;
    const namespaceMovedAt = await this.#namespaceMovedAt(view, mask, from);
    const all = concerned(this.#changes.since(from, view.kinds), from, view, mask);
    const { changed, runs } = await this.#fitting(view, mask, all);
    const changedAt = new Map(changed.map((run) => [run.runId, run.position]));
    const more = all.length > changed.length;
    const isGone = ({ runId: id, namespace, purged }: ChangedRun) =>
      purged || (mask !== undefined && !maskReadsRun(mask, { id, namespace }));
    const gone = changed.filter(isGone).map(({ runId }) => runId);
    const matching = new Set(runs.map(({ run }) => run.id));
    return {
      runs,
      left: [...changedAt.keys()].filter((id) => !matching.has(id)),
      position: more ? changed.at(-1)!.position : position,
      more,
      changedAt,
      gone,
      namespaceMovedAt,
    };
  }

  async #namespaceMovedAt(view: RunsView, mask: ReadMask | undefined, from: number): Promise<number> {
    for (const move of this.#changes.namespaceMovesSince(from).toReversed()) {
      if (await this.#concerns(move, view, mask)) return move.position;
    }
    return 0;
  }

  /** Whether the view may have had, or has, runs of the namespace: who sees neither place must not learn of the move. */
  async #concerns({ from, to }: NamespaceMove, view: RunsView, mask: ReadMask | undefined): Promise<boolean> {
    if ([from, to].some((path) => readsWithin(path, view, mask))) return true;
    const under = withinBoth(to, view.under);
    if (under === undefined) return false;
    // What is open only further in, and runs that are shared alone. With the namespace they may be in the trash now.
    const all = { query: EVERY_RUN, readable: mask, under, limit: 0, after: undefined, metrics: [] };
    for (const trashed of [false, true]) {
      const { total } = await this.#search.search({ ...all, trashed, nowUs: this.#clock.nowUs() });
      if (total > 0) return true;
    }
    return false;
  }

  /** The first of the changed runs, as many as fit into one event: at least one where there is one. */
  async #fitting(
    view: RunsView,
    mask: ReadMask | undefined,
    all: readonly ChangedRun[],
  ): Promise<{ changed: readonly ChangedRun[]; runs: FoundRun[] }> {
    let size = Math.min(PAGE, rowsWithMetrics(view.projection));
    for (;;) {
      const changed = all.slice(0, size);
      const present = changed.filter((run) => !run.purged).map(({ runId }) => runId);
      if (present.length === 0) return { changed, runs: [] };
      const { runs, looked, found } = await this.#find(view, mask, present);
      if (looked === found) return { changed, runs };
      size = Math.max(1, Math.floor((changed.length * looked) / (found + 1)));
    }
  }

  /** `looked` of the runs that were `found` have been read: the others did not fit. */
  async #find(
    view: RunsView,
    mask: ReadMask | undefined,
    only: readonly string[],
  ): Promise<{ runs: FoundRun[]; looked: number; found: number }> {
    this.#searches++;
    const { under, projection } = view;
    const nowUs = this.#clock.nowUs();
    const query = readQuery(view.query, { nowUs, me: view.me });
    const found = await this.#search.search({
      query,
      readable: mask,
      only,
      under,
      trashed: false,
      limit: only.length,
      after: undefined,
      metrics: projection.metrics,
      nowUs,
    });
    const options = { ...unread(projection), bytesMax: limits.pageBytesMax };
    const { runs, looked } = await this.#store.getRuns(found.ids, options);
    // It may have been moved out of sight since it was found.
    const seen = mask === undefined ? runs : runs.filter((run) => maskReadsRun(mask, run));
    return { runs: toFoundRuns(found, seen, projection), looked, found: found.ids.length };
  }
}

/**
 * The runs that the watcher may see and requested, or that have left its view: those have the position of that, so that
 * a watcher that came later is not notified. Other changed runs are not even named.
 */
function concerned(
  runs: readonly ChangedRun[],
  from: number,
  view: RunsView,
  mask: ReadMask | undefined,
): ChangedRun[] {
  let hasLeft = false;
  const some = runs.flatMap((run) => {
    if (isInView(run.runId, run.namespace, view, mask)) return [run];
    let position = from;
    for (const move of run.moves) {
      if (move.position > position && isInView(run.runId, move.from, view, mask)) position = move.position;
    }
    if (position === from) return [];
    hasLeft = true;
    return [{ ...run, position }];
  });
  return hasLeft ? some.sort((a, b) => a.position - b.position) : some;
}

/** The part of a namespace that is in a view; undefined for nothing. */
function withinBoth(path: string, under: string): string | undefined {
  if (isUnder(path, under)) return path;
  return isUnder(under, path) ? under : undefined;
}

function readsWithin(path: string, { under }: RunsView, mask: ReadMask | undefined): boolean {
  const within = withinBoth(path, under);
  return within !== undefined && (mask === undefined || maskReadsNamespace(mask, within));
}

function isInView(id: string, namespace: string, view: RunsView, mask: ReadMask | undefined): boolean {
  if (view.under !== "" && !isUnder(namespace, view.under)) return false;
  return mask === undefined || maskReadsRun(mask, { id, namespace });
}

function mentionsMetrics({ where, orderBy }: Query): boolean {
  return orderBy.some(({ field }) => field.of === "metric") || (where !== undefined && hasMetric(where));
}

function hasMetric(expression: Expression): boolean {
  switch (expression.op) {
    case "and":
    case "or":
      return expression.terms.some(hasMetric);
    case "not":
      return hasMetric(expression.term);
    case "under":
      return false;
    default:
      return expression.field.of === "metric";
  }
}
