/** The thread that holds the run index. It follows the store over one port and answers over another. */
import { parentPort, workerData } from "node:worker_threads";
import { idleMeter } from "#base/idle-meter.ts";
import { keepCancelFlag, throwIfCancelled } from "#base/threads/cancellation.ts";
import { inSlices } from "#base/threads/in-slices.ts";
import { serveCalls, Transferred } from "#base/threads/worker-call.ts";
import { linkRunChanges } from "#core/runs/run-changes-link.ts";
import type { ReadMask } from "#core/types/scope.ts";
import { CairnError, toPlainError } from "#lang/errors.ts";
import type { RunChangesLink, RunFeedBatch } from "#core/ports/run-changes.ts";
import type { SearchRequest } from "#core/ports/run-search.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { RunIndex } from "./index.ts";
import { OpenTables } from "./analysis/open-tables.ts";
import { fromPlainRequest, type PlainMask } from "./masks/plain-query.ts";
import { Follower } from "./follower.ts";
import { readSnapshot } from "./snapshot/snapshot-file.ts";
import { SnapshotKeeper } from "./snapshot/snapshot-keeper.ts";
import { warmUp } from "./warm-up.ts";
import { type ColumnsApi, MASK_UNKNOWN, type TableApi, type WorkerStart } from "./worker-api.ts";

const { deadlineMs, masksMax, snapshot } = workerData as WorkerStart;
const TEND_MS = 1_000;
/** Among fewer runs a search is fast without. */
const WARM_UP_RUNS = 10_000;
/** Sorts the names: with very many of them the first search in order of names would wait for that. */
const BY_NAME: SearchRequest = {
  query: parseQuery("order by name", { nowUs: 0 }),
  readable: undefined,
  under: "",
  trashed: false,
  limit: 1,
  after: undefined,
  metrics: [],
};
let isCold = true;
const restored = snapshot && readSnapshot(snapshot.file, (next) => RunIndex.restore(next, { masksMax }));
const index = restored?.restored ?? new RunIndex({ masksMax });
const keeper = snapshot && new SnapshotKeeper({ ...snapshot, index, written: restored?.mark });
const tables = new OpenTables(index);
let follower: Follower | undefined;

function follow(link: RunChangesLink): void {
  const apply = (batch: RunFeedBatch): void => {
    index.apply(batch);
    if (batch.reset) keeper?.discard();
  };
  const following = new Follower(linkRunChanges(link), apply, { deadlineMs, mark: restored?.mark });
  follower = following;
  // At once, and not only for the first search: a start waits until every run is known.
  following.catchUp()?.catch(() => undefined);
  const isIdle = idleMeter();
  setInterval(() => {
    following.tend();
    keeper?.tend(following.mark, isIdle());
  }, TEND_MS);
}

function caughtUp<R>(answer: () => R | Promise<R>): R | Promise<R> {
  if (follower === undefined) {
    throw new CairnError("unavailable", "cannot search runs: the run index does not follow a store yet");
  }
  const behind = follower.catchUp();
  return behind === undefined ? answer() : behind.then(keepCancelFlag(answer));
}

function maskOf(readable: PlainMask): ReadMask | undefined {
  if (readable === undefined) return undefined;
  if (typeof readable !== "string") {
    // At once, as the other side relies on it: the search itself may have to wait.
    index.keepMask(readable);
    return readable;
  }
  const mask = index.findMask(readable);
  if (mask !== undefined) return mask;
  // Never without a mask: that would return everything.
  throw new CairnError("precondition", "cannot search runs: the index has forgotten what may be read", {
    reason: MASK_UNKNOWN,
  });
}

serveCalls<ColumnsApi>(
  parentPort!,
  {
    follow,
    finish: () => keeper?.finish(follower?.mark),
    search: (plain) => {
      const request = fromPlainRequest(plain, maskOf(plain.readable));
      return caughtUp(() => index.search(request));
    },
    searchModels: (plain) => {
      const request = fromPlainRequest(plain, maskOf(plain.readable));
      return caughtUp(() => index.searchModels(request));
    },
    best: (goals, readable) => {
      const mask = maskOf(readable);
      const check = keepCancelFlag(throwIfCancelled);
      return caughtUp(() => inSlices(index.best({ goals, readable: mask }), check));
    },
    fields: (plain) => {
      const request = fromPlainRequest(plain, maskOf(plain.readable));
      const check = keepCancelFlag(throwIfCancelled);
      return caughtUp(() => inSlices(index.fields(request), check));
    },
    openTable: (plain, withParams) => {
      const selection = fromPlainRequest(plain, maskOf(plain.readable));
      const check = keepCancelFlag(throwIfCancelled);
      return caughtUp(() => inSlices(tables.open(selection, withParams), check));
    },
    closeTable: (id) => tables.close(id),
    serveTables: (port) =>
      serveCalls<TableApi>(
        port,
        {
          column: (id, field) => {
            const column = tables.column(id, field);
            return column && new Transferred(column, [column.values.buffer as ArrayBuffer]);
          },
          identify: (id, places) => tables.identify(id, places),
        },
        toPlainError,
      ),
    tally: (readable) => {
      const mask = maskOf(readable);
      return caughtUp(() => {
        const tally = index.tally(mask);
        if (isCold && tally.reduce((sum, { runs }) => sum + runs, 0) >= WARM_UP_RUNS) {
          isCold = false;
          setImmediate(() => void warmUp().then(() => index.search(BY_NAME)));
        }
        return tally;
      });
    },
  },
  toPlainError,
);
