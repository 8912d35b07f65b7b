import type { MessagePort } from "node:worker_threads";
import { Caller } from "#base/worker-call.ts";
import { startWorker } from "#base/worker-thread.ts";
import { CairnError, fromPlainError, type PlainError } from "#core/errors.ts";
import type { WorkerStart } from "./worker-api.ts";

/** A storage thread and the way to call it. */
export interface Thread<Api> {
  caller: Caller<Api>;
  stop(): Promise<void>;
}

/** Starts the thread and waits until its connection is open. Throws what opening threw. */
export async function startThread<Api>(start: WorkerStart, feed?: MessagePort): Promise<Thread<Api>> {
  const worker = startWorker(new URL("./worker.ts", import.meta.url), {
    name: `sqlite ${start.role}`,
    workerData: { ...start, feed },
    transferList: feed === undefined ? [] : [feed],
  });
  const greeting = await new Promise<"ready" | PlainError>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  if (greeting !== "ready") {
    await worker.terminate();
    throw fromPlainError(greeting);
  }
  const caller = new Caller<Api>(worker, fromPlainError, (cause) => {
    const options = { cause, reason: "STORAGE_ENDED", hint: "restart the server" };
    return new CairnError("unavailable", "cannot reach the store: its thread has ended", options);
  });
  return {
    caller,
    stop: async () => {
      await worker.terminate();
    },
  };
}
