import { parentPort } from "node:worker_threads";
import { serveStore } from "./serve-store.ts";
import type { WorkerStart } from "./worker-api.ts";

parentPort!.once("message", (start: WorkerStart) => serveStore(parentPort!, start));
