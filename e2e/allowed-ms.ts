import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TRIES = 5;
/** How often a test's wait for something may be as long as a question to a server that does nothing. */
const BUSY_FACTOR = 40;

/**
 * What a test allows for something that an idle machine does in `idleMs`: that, and more in proportion to how long this machine takes, right now, for a question to a
 * server in this process and its answer. An idle one takes a millisecond or two for it.
 */
export async function allowedMs(idleMs: number): Promise<number> {
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const times: number[] = [];
  // The first one also loads what the others find loaded.
  for (let i = 0; i <= TRIES; i++) {
    const startedMs = performance.now();
    await (await fetch(`http://127.0.0.1:${port}`)).text();
    times.push(performance.now() - startedMs);
  }
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  return idleMs + BUSY_FACTOR * Math.max(...times.slice(1));
}
