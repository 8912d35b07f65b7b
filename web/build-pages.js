// Before a server starts: builds the pages when their sources have changed. Plain JavaScript, so that a Node too old for the rest gets as far
// as server/start.js, which says what is wrong. A build that fails keeps no server from starting: the API works without pages.
import { isOlder } from "../base/start/node-version.js";

if (!isOlder(process.versions.node)) {
  try {
    const { buildWeb } = await import("./build.ts");
    await buildWeb();
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    process.stderr.write(`cairn: cannot build the pages: ${cause}\n  the server starts without them\n`);
  }
}
