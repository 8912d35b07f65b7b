import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { serveStore } from "./serve-store.ts";
import type { WorkerStart } from "./worker-api.ts";

const { feed, ...start } = workerData as WorkerStart & { feed: MessagePort | undefined };
serveStore(parentPort!, start, feed);
