import { parentPort, workerData } from "node:worker_threads";
import { serveStore } from "./serve-store.ts";
import type { WorkerStart } from "./worker-api.ts";

serveStore(parentPort!, workerData as WorkerStart);
