import type { MessagePort, Worker } from "node:worker_threads";
import { Caller } from "#base/threads/worker-call.ts";
import { startWorker } from "#base/threads/worker-thread.ts";
import { CairnError, fromPlainError, type PlainError } from "#lang/errors.ts";
import type { WorkerStart } from "./worker-api.ts";

/** A storage thread and the way to call it. */
export interface Thread<Api> {
  caller: Caller<Api>;
  stop(): Promise<void>;
}

/**
 * Starts a thread and waits until its connection is open. Throws what opening threw. The thread loads its code at once,
 * and opens its connection after `turn`; where that rejects, the thread ends and this throws the same.
 */
export type StartThread = <Api>(start: WorkerStart, turn?: Promise<unknown>) => Promise<Thread<Api>>;

export const startThread: StartThread = async (start, turn) => {
  const worker = startWorker(new URL("./worker.ts", import.meta.url), { name: `sqlite ${start.role}` });
  const stop = async () => {
    await worker.terminate();
  };
  // From here on, so that a thread that ends early is not missed.
  const connected = connectThread<never>(worker, stop);
  connected.catch(() => undefined);
  try {
    await turn;
    worker.postMessage(start);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return connected;
};

/** Waits for the greeting of `serveStore` at the other end of `port`. Throws `unavailable` when that ends before. */
export async function connectThread<Api>(
  port: Worker | MessagePort,
  stop: () => Promise<void>,
): Promise<Thread<Api>> {
  const greeting = await new Promise<"ready" | PlainError>((resolve, reject) => {
    port.once("message", resolve);
    for (const event of ENDS) port.once(event, (cause: unknown) => reject(ended(cause)));
  });
  if (greeting !== "ready") {
    await stop();
    throw fromPlainError(greeting);
  }
  return { caller: new Caller<Api>(port, fromPlainError, ended), stop };
}

/** Of a thread, or of a port. */
const ENDS = ["error", "exit", "close"];

function ended(cause: unknown): CairnError {
  const options = {
    cause,
    reason: "STORAGE_ENDED",
    hint: "try again; if the problem persists, restart the server",
  };
  return new CairnError("unavailable", "cannot reach the store: its thread has ended", options);
}
