/** The thread that holds the run index. Batches and searches come in over two ports, one at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { keepCancelFlag, throwIfCancelled } from "#base/threads/cancellation.ts";
import { inSlices } from "#base/threads/in-slices.ts";
import { serveCalls, Transferred } from "#base/threads/worker-call.ts";
import type { ReadMask } from "#core/access/scope.ts";
import { CairnError, toPlainError } from "#lang/errors.ts";
import type { RunFeedBatch, SearchRequest } from "#core/ports/run-search.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { RunIndex } from "./index.ts";
import { OpenTables } from "./analysis/open-tables.ts";
import { fromPlainRequest, type PlainMask } from "./masks/plain-query.ts";
import { PositionGate } from "./position-gate.ts";
import { warmUp } from "./warm-up.ts";
import { type ColumnsApi, MASK_UNKNOWN, type TableApi, type WorkerStart } from "./worker-api.ts";

const { feed, deadlineMs, masksMax } = workerData as WorkerStart;
/** Among fewer runs a search is fast without. */
const WARM_UP_RUNS = 10_000;
/** Puts the names in order: with very many of them the first who sorts by name would wait for that. */
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
const index = new RunIndex({ masksMax });
const tables = new OpenTables(index);
const gate = new PositionGate(deadlineMs);

feed.on("message", (batch: RunFeedBatch) => {
  index.apply(batch);
  gate.reach(batch.position);
});

function atPosition<R>(position: number, answer: () => R | Promise<R>): R | Promise<R> {
  const behind = gate.wait(position);
  return behind === undefined ? answer() : behind.then(keepCancelFlag(answer));
}

function maskOf(readable: PlainMask): ReadMask | undefined {
  if (readable === undefined) return undefined;
  if (typeof readable !== "string") {
    // At once, as the other side counts on it: the search itself may have to wait.
    index.keepMask(readable);
    return readable;
  }
  const mask = index.findMask(readable);
  if (mask !== undefined) return mask;
  // Never without it: that would be everything.
  throw new CairnError("precondition", "cannot search runs: the index has forgotten what may be read", {
    reason: MASK_UNKNOWN,
  });
}

serveCalls<ColumnsApi>(
  parentPort!,
  {
    search: (plain, position) => {
      const request = fromPlainRequest(plain, maskOf(plain.readable));
      return atPosition(position, () => index.search(request));
    },
    best: (goals, readable, position) => {
      const mask = maskOf(readable);
      const check = keepCancelFlag(throwIfCancelled);
      return atPosition(position, () => inSlices(index.best({ goals, readable: mask }), check));
    },
    fields: (plain, position) => {
      const request = fromPlainRequest(plain, maskOf(plain.readable));
      const check = keepCancelFlag(throwIfCancelled);
      return atPosition(position, () => inSlices(index.fields(request), check));
    },
    openTable: (plain, withParams, position) => {
      const selection = fromPlainRequest(plain, maskOf(plain.readable));
      const check = keepCancelFlag(throwIfCancelled);
      return atPosition(position, () => inSlices(tables.open(selection, withParams), check));
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
    tally: (position, readable) => {
      const mask = maskOf(readable);
      return atPosition(position, () => {
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
