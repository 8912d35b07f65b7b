// Before a server starts: builds the pages, and the packages of clients that it offers for download, when their sources have changed. Plain
// JavaScript, so that a Node too old for the rest gets as far as server/start.js, which says what is wrong. A build that fails keeps no server
// from starting: the API works without them.
import { isOlder } from "../base/start/node-version.js";

if (!isOlder(process.versions.node)) {
  try {
    const { buildWeb } = await import("./build.ts");
    await buildWeb();
  } catch (thrown) {
    report("the pages", thrown);
  }
  try {
    const { prepareInstall } = await import("../tools/package/prepare-install.ts");
    await prepareInstall();
  } catch (thrown) {
    report("the Python package for /install", thrown);
  }
}

/**
 * @param {string} what
 * @param {unknown} thrown
 */
function report(what, thrown) {
  const cause = thrown instanceof Error ? thrown.message : String(thrown);
  process.stderr.write(`cairn: cannot build ${what}: ${cause}\n  the server starts without\n`);
}
