import type {
  BestFound,
  BestRequest,
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

  async #overtake<T>(found: T): Promise<T> {
    const { next } = this;
    this.next = undefined;
    await next?.();
    return found;
  }
}
