import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TRIES = 5;
/** The longest wait of a test, as a multiple of the time of a request to an idle server. */
const BUSY_FACTOR = 40;

/**
 * The time limit for work that takes `idleMs` on an idle machine: more, in proportion to the time that this machine needs right now for a request to a
 * server in this process. An idle machine needs a millisecond or two.
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
