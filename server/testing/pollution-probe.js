// Loaded into every thread of a server with --import, before anything else: remembers what the prototypes
// have, and on SIGUSR2 every thread says on standard output what they have got since.
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

const PROTOTYPES = [Object, Function, Array, String, Number, Map, Set, Promise, Error].map(
  ({ prototype }) => prototype,
);
const before = PROTOTYPES.map((prototype) => new Set(Reflect.ownKeys(prototype)));

function report() {
  const added = PROTOTYPES.flatMap((prototype, at) =>
    Reflect.ownKeys(prototype).filter((key) => !before[at].has(key)),
  );
  const plain = {};
  const seen = ["x", "polluted", "isAdmin"].filter((key) => plain[key] !== undefined);
  process.stdout.write(`probe ${threadId} ${JSON.stringify([...added.map(String), ...seen])}\n`);
}

const channel = new BroadcastChannel("pollution-probe");
if (isMainThread) {
  process.on("SIGUSR2", () => {
    report();
    channel.postMessage("report");
  });
} else channel.addEventListener("message", report);
channel.unref();
