// The way in. Plain JavaScript, so that a Node too old for the rest can still say what is wrong.
const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR_MIN) {
  console.error(
    `Cairn needs Node ${NODE_MAJOR_MIN} and is running on Node ${process.versions.node} (${process.execPath}).

Fix it in one of two ways:
  - run "npm ci" again, without --omit=optional: npm then brings
    Node ${NODE_MAJOR_MIN} along, and "npm start" uses it;
  - or install Node ${NODE_MAJOR_MIN} and run "node server/start.js" with it.`,
  );
  process.exit(1);
}

const { enableCompileCache } = await import("node:module");
const { fileURLToPath } = await import("node:url");
// Beside the code it is made from, and not in a folder for temporary files that others may write to.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/cairn", import.meta.url)));
const { closePrototypes } = await import("../base/close-prototypes.js");
closePrototypes();
await import("./main.ts");
const { collectAfterStart } = await import("../base/collect-after-start.ts");
collectAfterStart();
