/** The thread that holds the run index. Batches and searches come in over two ports, one at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { serveCalls } from "#base/worker-call.ts";
import { toPlainError } from "#core/errors.ts";
import type { RunFeedBatch } from "#core/ports/run-search.ts";
import { RunIndex } from "./index.ts";
import { fromPlainRequest } from "./plain-query.ts";
import { PositionGate } from "./position-gate.ts";
import type { ColumnsApi, WorkerStart } from "./worker-api.ts";

const { feed, deadlineMs } = workerData as WorkerStart;
const index = new RunIndex();
const gate = new PositionGate(deadlineMs);

feed.on("message", (batch: RunFeedBatch) => {
  index.apply(batch);
  gate.reach(batch.position);
});

function atPosition<R>(position: number, answer: () => R): R | Promise<R> {
  const behind = gate.wait(position);
  return behind === undefined ? answer() : behind.then(answer);
}

serveCalls<ColumnsApi>(
  parentPort!,
  {
    search: (request, position) => atPosition(position, () => index.search(fromPlainRequest(request))),
    tally: (position) => atPosition(position, () => index.tally()),
  },
  toPlainError,
);
