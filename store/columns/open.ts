import { Caller } from "#base/threads/worker-call.ts";
import { startWorker } from "#base/threads/worker-thread.ts";
import { CairnError, fromPlainError } from "#lang/errors.ts";
import type { RunChangesLink } from "#core/ports/run-changes.ts";
import type { RunSearch } from "#core/ports/run-search.ts";
import { Analysis } from "./analysis/analysis.ts";
import { MASKS_MAX } from "./masks/mask-table.ts";
import { toPlainRequest } from "./masks/plain-query.ts";
import { SentMasks } from "./masks/sent-masks.ts";
import { SNAPSHOT_RUNS_MIN } from "./snapshot/snapshot-keeper.ts";
import type { ColumnsApi, WorkerStart } from "./worker-api.ts";

/** How long a search waits while none of the changes that it must see arrive. */
const BEHIND_MS_MAX = 30_000;

export interface Columns {
  search: RunSearch;
  /** From now on the index follows the store. Before, every search throws `unavailable`. */
  follow(changes: RunChangesLink): Promise<void>;
}

export interface ColumnsOptions {
  behindMsMax?: number;
  masksMax?: number;
  /** A file to which the index is written from time to time, so that the next start need not read every run. */
  snapshot?: string;
  /** From how many runs on that is done. */
  snapshotRunsMin?: number;
}

/**
 * Starts the run index in a thread of its own. When the thread fails, every waiting and every later call throws
 * `unavailable`.
 */
export function openColumns(options: ColumnsOptions = {}): Columns {
  const start: WorkerStart = {
    deadlineMs: options.behindMsMax ?? BEHIND_MS_MAX,
    masksMax: options.masksMax ?? MASKS_MAX,
    snapshot:
      options.snapshot === undefined
        ? undefined
        : { file: options.snapshot, runsMin: options.snapshotRunsMin ?? SNAPSHOT_RUNS_MIN },
  };
  const worker = startWorker(new URL("./worker.ts", import.meta.url), {
    name: "columns",
    workerData: start,
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
    search: (request, signal) =>
      masks.call(request.readable, (readable) =>
        caller.call("search", [toPlainRequest(request, readable)], { signal }),
      ),
    searchModels: (request, signal) =>
      masks.call(request.readable, (readable) =>
        caller.call("searchModels", [toPlainRequest(request, readable)], { signal }),
      ),
    tally: (readable) => masks.call(readable, (sent) => caller.call("tally", [sent])),
    best: ({ goals, readable }, signal) =>
      masks.call(readable, (sent) => caller.call("best", [goals, sent], { signal })),
    fields: (request, signal) =>
      masks.call(request.readable, (readable) =>
        caller.call("fields", [toPlainRequest(request, readable)], { signal }),
      ),
    importance: (request, signal) => analysis.importance(request, signal),
    frontier: (request, signal) => analysis.frontier(request, signal),
    async close() {
      await analysis.close();
      // It may have ended before.
      await caller.call("finish", []).catch(() => undefined);
      caller.fail(new CairnError("unavailable", "cannot search runs: the run index is closed"));
      await worker.terminate();
    },
  };
  return {
    search,
    follow: (changes) => caller.call("follow", [changes], { transfer: [changes.port] }),
  };
}
