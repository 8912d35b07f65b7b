import { maskReadsRun, type ReadMask } from "#core/access/scope.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { compareRuns, matches } from "#lang/query/evaluate.ts";
import { viewRun } from "#lang/query/view.ts";
import type {
  NamespaceTally,
  RunFeedRow,
  RunSearch,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import type { FeedRecorder } from "./feed-recorder.ts";
import { NOW_US } from "./stores.ts";

/**
 * The plainest RunSearch there is: what the feed told, looked through from the beginning by core's own
 * evaluator. It lets a suite run core on a store without the store's search.
 */
export class ListSearch implements RunSearch {
  readonly #feed: FeedRecorder;

  constructor(feed: FeedRecorder) {
    this.#feed = feed;
  }

  async search(request: SearchRequest, position: number): Promise<SearchResult> {
    await this.#feed.reach(position);
    const { where, orderBy } = request.query;
    const rows = [...this.#feed.runs.values()]
      .filter((run) => (run.deletedUs !== undefined) === request.trashed)
      .filter((run) => isUnder(run.namespace, request.under))
      .filter((run) => request.readable === undefined || maskReadsRun(request.readable, run))
      .filter((run) => request.only === undefined || request.only.includes(run.id))
      .map((run) => ({ run, view: this.#view(run, request.nowUs ?? NOW_US) }))
      .filter(({ view }) => where === undefined || matches(where, view));
    const order = compareRuns(orderBy);
    rows.sort((a, b) => order(a.view, b.view));
    const start = rows.findIndex(({ run }) => run.id === request.after) + 1 + (request.offset ?? 0);
    const page = rows.slice(start, start + request.limit);
    return {
      ids: page.map(({ run }) => run.id),
      metrics: request.metrics.map(({ key, stat }) => page.map(({ run }) => this.#stat(run, key, stat))),
      total: rows.length,
      next: start + request.limit < rows.length ? page.at(-1)?.run.id : undefined,
    };
  }

  async tally(position: number, readable?: ReadMask): Promise<NamespaceTally[]> {
    await this.#feed.reach(position);
    const runs = [...this.#feed.runs.values()]
      .filter((run) => run.deletedUs === undefined)
      .filter((run) => readable === undefined || maskReadsRun(readable, run));
    return [...Map.groupBy(runs, ({ namespace }) => namespace)].map(([namespace, own]) => ({
      namespace,
      runs: own.length,
      running: own.filter(({ status }) => status === "running").length,
      lastActivityUs: Math.max(...own.map(({ updatedUs }) => updatedUs)),
    }));
  }

  async close(): Promise<void> {}

  #view(run: RunFeedRow, nowUs: number) {
    return viewRun({ ...run, tags: new Map(run.tags) }, (key, stat) => this.#stat(run, key, stat), nowUs);
  }

  /** Only of series without labels. */
  #stat(run: RunFeedRow, key: string, stat: MetricStat): number | undefined {
    const numbers = this.#feed.findNumbers(run.id, key);
    if (numbers === undefined || numbers.count === 0) return undefined;
    const value = stat === "mean" ? numbers.sum / (numbers.count - numbers.nanCount) : numbers[stat];
    return (stat === "min" || stat === "max") && Number.isNaN(value) ? undefined : value;
  }
}
