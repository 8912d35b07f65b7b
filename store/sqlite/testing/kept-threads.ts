/**
 * Threads that serve one store after the other. A new thread loads all code of the store, which takes longer than most
 * tests; one that has served continues with the next.
 */
import { once } from "node:events";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { startWorker } from "#base/threads/worker-thread.ts";
import { connectThread, type StartThread } from "../thread.ts";
import type { WorkerStart } from "../worker-api.ts";

/** What such a thread is asked for. It answers "stop" once its connection is closed. */
export type KeptThreadRequest = "stop" | { port: MessagePort; start: WorkerStart };

const idle: Worker[] = [];

export const startKeptThread: StartThread = async (start, turn) => {
  await turn;
  const worker = idle.pop() ?? startWorker(new URL("./kept-thread-worker.ts", import.meta.url), {});
  worker.ref();
  const { port1, port2 } = new MessageChannel();
  const ask = (request: KeptThreadRequest, transfer: MessagePort[] = []) =>
    worker.postMessage(request, transfer);
  ask({ port: port2, start }, [port2]);
  return connectThread(port1, async () => {
    ask("stop");
    await once(worker, "message");
    port1.close();
    worker.unref();
    idle.push(worker);
  });
};
