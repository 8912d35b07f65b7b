import type { MessagePort } from "node:worker_threads";
import type { NamespaceTally, SearchResult } from "#core/ports/run-search.ts";
import type { PlainMask, PlainRequest } from "./plain-query.ts";

/** What the thread of the index is started with. */
export interface WorkerStart {
  /** RunFeedBatch messages come in here. */
  feed: MessagePort;
  deadlineMs: number;
  masksMax: number;
}

/**
 * What it can be asked. Both wait until `position` has been applied, and throw `precondition`
 * (MASK_UNKNOWN) at once for the id of a mask that is not there any more.
 */
export interface ColumnsApi {
  search(request: PlainRequest, position: number): SearchResult;
  tally(position: number, readable: PlainMask): NamespaceTally[];
}

export const MASK_UNKNOWN = "MASK_UNKNOWN";
