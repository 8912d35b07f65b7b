import type {
  BestFound,
  BestRequest,
  FoundFrontier,
  FrontierRequest,
  ModelSearchRequest,
  ModelSearchResult,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import { ListSearch } from "./list-search.ts";

/** Something happens between what it finds and the answer that core makes of it. */
export class OvertakenSearch extends ListSearch {
  /** Done once, after the next search. */
  next: (() => Promise<void>) | undefined;

  override async search(request: SearchRequest): Promise<SearchResult> {
    return this.#overtake(await super.search(request));
  }

  override async searchModels(request: ModelSearchRequest): Promise<ModelSearchResult> {
    return this.#overtake(await super.searchModels(request));
  }

  override async best(request: BestRequest): Promise<(BestFound | undefined)[]> {
    return this.#overtake(await super.best(request));
  }

  /** The runs are named as they are at the end, as by the run index. */
  override async frontier(request: FrontierRequest): Promise<FoundFrontier> {
    const found = await this.#overtake(await super.frontier(request));
    const { runs } = await super.frontier({ ...request, readable: undefined, under: "" });
    const named = (id: string) => runs.find((run) => run.id === id);
    return { ...found, runs: found.runs.map((run) => named(run.id) ?? run) };
  }

  async #overtake<T>(found: T): Promise<T> {
    const { next } = this;
    this.next = undefined;
    await next?.();
    return found;
  }
}
