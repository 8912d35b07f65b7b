import { maskReadsRun, type ReadMask } from "#core/types/scope.ts";
import type { MetricStat, Query } from "#lang/query/ast.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { MODEL_TIES } from "#lang/query/compare.ts";
import { compareRuns, matches } from "#lang/query/evaluate.ts";
import { viewModel, viewRun } from "#lang/query/testing/view.ts";
import type {
  BestFound,
  BestRequest,
  FieldsRequest,
  FoundFields,
  FoundFrontier,
  FrontierRequest,
  Importance,
  ImportanceRequest,
  ModelSearchRequest,
  ModelSearchResult,
  NamespaceTally,
  RunSearch,
  RunSelection,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import type { RunFeedRow } from "#core/ports/run-changes.ts";
import type { FeedRecorder } from "./feed-recorder.ts";
import { naiveBest, naiveFields, naiveFrontier, naiveImportance, type NaiveRun } from "./naive-explore.ts";
import { NOW_US } from "./stores.ts";

const EVERYTHING: Query = { where: undefined, orderBy: [] };

/**
 * A minimal RunSearch: scans the state of a follower with core's own evaluator. It lets a suite run core on a
 * store without the store's search.
 */
export class ListSearch implements RunSearch {
  readonly #feed: FeedRecorder;

  constructor(feed: FeedRecorder) {
    this.#feed = feed;
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    await this.#feed.catchUp();
    const rows = this.#select(request, request.trashed).filter(
      ({ run }) => request.only === undefined || request.only.includes(run.id),
    );
    const order = compareRuns(request.query.orderBy);
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

  async searchModels({
    query,
    hidden,
    limit,
    after,
    ...rest
  }: ModelSearchRequest): Promise<ModelSearchResult> {
    await this.#feed.catchUp();
    const runs = new Map(this.#select({ ...rest, query: EVERYTHING }).map((row) => [row.run.key, row]));
    const rows = [...this.#feed.models.values()]
      .flatMap((model) => {
        const { run, view } = runs.get(model.run) ?? {};
        if (run === undefined || hidden.get(run.id)?.includes(model.name) === true) return [];
        const place = { runId: run.id, name: model.name, step: model.step };
        return [{ place, key: String(model.key), view: viewModel(model, view!) }];
      })
      .filter(({ view }) => query.where === undefined || matches(query.where, view));
    const order = compareRuns(query.orderBy, MODEL_TIES);
    rows.sort((a, b) => order(a.view, b.view));
    const start = rows.findIndex(({ key }) => key === after) + 1;
    const page = rows.slice(start, start + limit);
    return {
      models: page.map(({ place }) => place),
      total: rows.length,
      next: start + limit < rows.length ? page.at(-1)?.key : undefined,
    };
  }

  async tally(readable?: ReadMask): Promise<NamespaceTally[]> {
    await this.#feed.catchUp();
    const runs = [...this.#feed.runs.values()]
      .filter((run) => !this.#feed.isTrashed(run))
      .filter((run) => readable === undefined || maskReadsRun(readable, run));
    return [...Map.groupBy(runs, ({ namespace }) => namespace)].map(([namespace, own]) => ({
      namespace,
      runs: own.length,
      running: own.filter(({ status }) => status === "running").length,
      lastActivityUs: Math.max(...own.map(({ updatedUs }) => updatedUs)),
    }));
  }

  async best({ readable, goals }: BestRequest): Promise<(BestFound | undefined)[]> {
    return naiveBest(await this.#runs({ query: EVERYTHING, readable, under: "" }), goals);
  }

  async fields(request: FieldsRequest): Promise<FoundFields> {
    return naiveFields(await this.#runs(request), request);
  }

  async importance(request: ImportanceRequest): Promise<Importance> {
    return naiveImportance(await this.#runs(request), request);
  }

  async frontier(request: FrontierRequest): Promise<FoundFrontier> {
    return naiveFrontier(await this.#runs(request), request);
  }

  async close(): Promise<void> {}

  #select({ query, under, readable, nowUs = NOW_US }: RunSelection, trashed = false) {
    const { where } = query;
    return [...this.#feed.runs.values()]
      .filter((run) => this.#feed.isTrashed(run) === trashed)
      .filter((run) => isUnder(run.namespace, under))
      .filter((run) => readable === undefined || maskReadsRun(readable, run))
      .map((run) => ({ run, view: this.#view(run, nowUs) }))
      .filter(({ view }) => where === undefined || matches(where, view));
  }

  async #runs(selection: RunSelection): Promise<NaiveRun[]> {
    await this.#feed.catchUp();
    return this.#select(selection).map(({ run }) =>
      Object.assign({}, run, {
        tags: new Map(run.tags),
        metricKeys: this.#feed.metricKeys(run.id),
        stat: (key: string, stat: MetricStat) => this.#stat(run, key, stat),
        step: (key: string, stat: "min" | "max") => {
          const step = this.#feed.findNumbers(run.id, key)?.[`${stat}Step`];
          return step === undefined || Number.isNaN(step) ? undefined : step;
        },
      }),
    );
  }

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
