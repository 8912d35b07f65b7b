import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";

export interface BadLineOptions {
  /** Breaks each of the first `breaks` connections once so many bytes have gone the one way or the other. */
  breaks?: number;
  downBytes?: number;
  upBytes?: number;
  /** Instead of breaking it lets nothing more through. */
  stall?: boolean;
  /** Changes what comes down. */
  tamper?: (chunk: Buffer) => Buffer;
}

export interface BadLine extends AsyncDisposable {
  /** In the place of the server's own address. */
  url: string;
  /** How many connections were broken or have stalled. */
  readonly broken: number;
}

/** A line to a server on which connections break, stall or carry other bytes than were sent. */
export async function openBadLine(serverUrl: string, options: BadLineOptions): Promise<BadLine> {
  const { port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let broken = 0;
  const line = createServer((client) => {
    const server = connect(Number(port), "127.0.0.1");
    const passed = { down: 0, up: 0 };
    let isOver = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        server.destroy();
      });
    }
    const pass = (from: Socket, to: Socket, way: "down" | "up", most: number | undefined) => {
      from.on("data", (chunk) => {
        if (isOver) return;
        passed[way] += chunk.length;
        if (most !== undefined && passed[way] > most && broken < (options.breaks ?? 0)) {
          broken++;
          isOver = true;
          if (options.stall !== true) from.destroy();
          else {
            client.pause();
            server.pause();
          }
          return;
        }
        const sent = way === "down" && options.tamper ? options.tamper(chunk) : chunk;
        if (!to.write(sent)) {
          from.pause();
          to.once("drain", () => from.resume());
        }
      });
      from.on("end", () => to.end());
    };
    pass(server, client, "down", options.downBytes);
    pass(client, server, "up", options.upBytes);
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
    get broken() {
      return broken;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      line.close();
      await once(line, "close");
    },
  };
}
