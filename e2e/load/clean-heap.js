// Loaded into every thread of a server with --import: on SIGUSR2 each collects its garbage.
// A heap that has room does that when it pleases, so without this nobody could tell what is held from what
// is only not thrown away yet.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { BroadcastChannel, isMainThread } from "node:worker_threads";

setFlagsFromString("--expose-gc");
const clean = runInNewContext("gc");
const channel = new BroadcastChannel("clean-heap");
if (isMainThread) {
  process.on("SIGUSR2", () => {
    clean();
    channel.postMessage("clean");
  });
} else channel.addEventListener("message", () => clean());
channel.unref();
