import { parentPort } from "node:worker_threads";
import { serveStore } from "../serve-store.ts";
import type { KeptThreadRequest } from "./kept-threads.ts";

let stop: (() => void) | undefined;

parentPort!.on("message", (request: KeptThreadRequest) => {
  if (request === "stop") {
    stop?.();
    parentPort!.postMessage("stop");
    return;
  }
  const { port, start } = request;
  const close = serveStore(port, start);
  stop = () => {
    close();
    port.close();
  };
});
