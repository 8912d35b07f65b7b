import type { MessagePort } from "node:worker_threads";
import type { NamespaceTally, SearchResult } from "#core/ports/run-search.ts";
import type { PlainRequest } from "./plain-query.ts";

/** What the thread of the index is started with. */
export interface WorkerStart {
  /** RunFeedBatch messages come in here. */
  feed: MessagePort;
  deadlineMs: number;
}

/** What it can be asked. Both wait until `position` has been applied. */
export interface ColumnsApi {
  search(request: PlainRequest, position: number): SearchResult;
  tally(position: number): NamespaceTally[];
}
