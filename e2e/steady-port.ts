import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that the system assigns to connections and to servers with port 0. */
const FIRST = 10_000;
const COUNT = 20_000;
/** Processes that run side by side begin at different ones. */
const STEP = 101;

let tried = 0;

/**
 * A port on which nothing listens, and which stays free: nothing but a program that asks for this one gets it. A
 * port that the system chose may belong to a connection of another process as soon as its server is gone.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * STEP + tried++) % COUNT);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
