// Before a server starts: builds the pages when their sources have changed. Plain JavaScript, so that a Node too old for the rest gets as far
// as server/start.js, which says what is wrong. A build that fails keeps no server from starting: the API works without pages.
const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  try {
    const { buildWeb } = await import("./build.ts");
    await buildWeb();
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    process.stderr.write(`cairn: cannot build the pages: ${cause}\n  the server starts without them\n`);
  }
}
