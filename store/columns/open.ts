import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Caller } from "#base/threads/worker-call.ts";
import { startWorker } from "#base/threads/worker-thread.ts";
import { CairnError, fromPlainError } from "#lang/errors.ts";
import type { RunSearch } from "#core/ports/run-search.ts";
import { Analysis } from "./analysis/analysis.ts";
import { MASKS_MAX } from "./masks/mask-table.ts";
import { toPlainRequest } from "./masks/plain-query.ts";
import { SentMasks } from "./masks/sent-masks.ts";
import type { ColumnsApi, WorkerStart } from "./worker-api.ts";

/** How long a search waits for changes that were acknowledged but have not come over the feed. */
const BEHIND_MS_MAX = 30_000;

export interface Columns {
  search: RunSearch;
  /** Takes RunFeedBatch messages. May be transferred to the thread where changes are made. */
  feed: MessagePort;
}

/**
 * Starts the run index in a thread of its own, empty until something comes over the feed. When the
 * thread fails, every call that waits and every later one throws `unavailable`.
 */
export function openColumns(options: { behindMsMax?: number; masksMax?: number } = {}): Columns {
  const { port1, port2 } = new MessageChannel();
  const start: WorkerStart = {
    feed: port2,
    deadlineMs: options.behindMsMax ?? BEHIND_MS_MAX,
    masksMax: options.masksMax ?? MASKS_MAX,
  };
  const worker = startWorker(new URL("./worker.ts", import.meta.url), {
    name: "columns",
    workerData: start,
    transferList: [port2],
  });
  const caller = new Caller<ColumnsApi>(worker, fromPlainError, (cause) => {
    return new CairnError("unavailable", "cannot search runs: the thread of the run index has ended", {
      cause,
      reason: "SEARCH_ENDED",
      hint: "restart the server",
    });
  });
  const masks = new SentMasks(MASKS_MAX);
  const analysis = new Analysis(caller, masks);
  const search: RunSearch = {
    search: (request, position, signal) =>
      masks.call(request.readable, (readable) =>
        caller.call("search", [toPlainRequest(request, readable), position], { signal }),
      ),
    tally: (position, readable) => masks.call(readable, (sent) => caller.call("tally", [position, sent])),
    best: ({ goals, readable }, position, signal) =>
      masks.call(readable, (sent) => caller.call("best", [goals, sent, position], { signal })),
    fields: (request, position, signal) =>
      masks.call(request.readable, (readable) =>
        caller.call("fields", [toPlainRequest(request, readable), position], { signal }),
      ),
    importance: (request, position, signal) => analysis.importance(request, position, signal),
    frontier: (request, position, signal) => analysis.frontier(request, position, signal),
    async close() {
      await analysis.close();
      caller.fail(new CairnError("unavailable", "cannot search runs: the run index is closed"));
      await worker.terminate();
    },
  };
  return { search, feed: port1 };
}
