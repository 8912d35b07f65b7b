#!/usr/bin/env node
// The way in. Plain JavaScript, so that a Node too old for the rest can still say what is wrong.
import { isOlder, NODE_MIN } from "../base/start/node-version.js";

if (isOlder(process.versions.node)) {
  console.error(
    `cairn needs Node ${NODE_MIN} or newer and is running on Node ${process.versions.node} (${process.execPath}).

Fix it in one of two ways:
  - in a checkout, run "npm ci" and then "npx cairn": npm brings a newer Node along;
  - or install a newer Node.`,
  );
  process.exit(1);
}

const { keepCompiledCode } = await import("../base/start/compile-cache.js");
keepCompiledCode();
const { main } = await import("./main.ts");
process.exitCode = await main(process.argv.slice(2));
