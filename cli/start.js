#!/usr/bin/env node
// The way in. Plain JavaScript, so that a Node too old for the rest can still say what is wrong.
const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR_MIN) {
  console.error(
    `cairn needs Node ${NODE_MAJOR_MIN} and is running on Node ${process.versions.node} (${process.execPath}).

Fix it in one of two ways:
  - in a checkout, run "npm ci" and then "npx cairn": npm brings Node ${NODE_MAJOR_MIN} along;
  - or install Node ${NODE_MAJOR_MIN}.`,
  );
  process.exit(1);
}

const { enableCompileCache } = await import("node:module");
const { fileURLToPath } = await import("node:url");
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/cairn", import.meta.url)));
const { main } = await import("./main.ts");
process.exitCode = await main(process.argv.slice(2));
