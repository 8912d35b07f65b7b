import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts a thread that runs the TypeScript file `entry`. */
export function startWorker(entry: URL, options: WorkerOptions): Worker {
  // The directory in use is a subfolder for our version inside the configured one.
  const cache = getCompileCacheDir();
  return new Worker(new URL("./worker-start.js", import.meta.url), {
    ...options,
    argv: [entry.href, cache === undefined ? "" : dirname(cache)],
  });
}
