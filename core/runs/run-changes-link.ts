import { SharedNumber } from "#base/threads/shared-number.ts";
import { Caller, serveCalls, Transferred, type Endpoint } from "#base/threads/worker-call.ts";
import { CairnError, fromPlainError, toPlainError } from "#lang/errors.ts";
import type {
  RunChanges,
  RunChangesApi,
  RunChangesLink,
  RunFeedBatch,
  RunMark,
} from "../ports/run-changes.ts";

/** Answers on one end of a link. Columns are handed over: a batch must own its buffers. */
export function serveRunChanges(
  port: Endpoint,
  runsSince: (mark: RunMark | undefined) => RunFeedBatch | Promise<RunFeedBatch>,
): void {
  const handOver = (batch: RunFeedBatch) => {
    const { metrics } = batch;
    const columns = metrics === undefined ? [] : [metrics.runs, metrics.key, metrics.label, metrics.stats];
    return new Transferred(
      batch,
      columns.map((column) => column.buffer as ArrayBuffer),
    );
  };
  serveCalls<RunChangesApi>(
    port,
    {
      runsSince: (mark) => {
        const batch = runsSince(mark);
        return batch instanceof Promise ? batch.then(handOver) : handOver(batch);
      },
    },
    toPlainError,
  );
}

/** The other end. Throws `unavailable` once the store has closed its end. */
export function linkRunChanges({ port, position }: RunChangesLink): RunChanges {
  const caller = new Caller<RunChangesApi>(port, fromPlainError, (cause) => {
    const options = { cause, reason: "STORAGE_ENDED", hint: "restart the server" };
    return new CairnError("unavailable", "cannot follow the store: it is closed", options);
  });
  const last = new SharedNumber(position);
  return {
    position: () => last.value,
    runsSince: (mark) => caller.call("runsSince", [mark]),
  };
}
