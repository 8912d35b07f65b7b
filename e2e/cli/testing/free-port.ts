import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** A port without a listener: it was free a moment ago, and the system assigns others first. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
