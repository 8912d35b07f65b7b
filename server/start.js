// The way in. Plain JavaScript, so that a Node too old for the rest can still say what is wrong.
import { isOlder, NODE_MIN } from "../base/start/node-version.js";

if (isOlder(process.versions.node)) {
  console.error(
    `Cairn needs Node ${NODE_MIN} or newer and is running on Node ${process.versions.node} (${process.execPath}).

Fix it in one of two ways:
  - run "npm ci" again, without --omit=optional: npm then brings a newer Node along,
    and "npm start" uses it;
  - or install a newer Node and run "node server/start.js" with it.`,
  );
  process.exit(1);
}

const { keepCompiledCode } = await import("../base/start/compile-cache.js");
keepCompiledCode();
const { closePrototypes } = await import("../base/close-prototypes.js");
closePrototypes();
await import("./main.ts");
const { collectAfterStart } = await import("../base/collect-after-start.ts");
collectAfterStart();
