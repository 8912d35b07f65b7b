import { once } from "node:events";
import { Transform } from "node:stream";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A proxy whose connections can be cut and restored; the address stays the same. */
export class CuttableProxy {
  #target: number;
  readonly #cutsBefore: (bytes: Buffer) => boolean | Promise<boolean>;
  readonly #sockets = new Set<Socket>();
  readonly #answers = new Map<Socket, Socket>();
  #server: Server | undefined;
  #port = 0;

  private constructor(target: number, cutsBefore: (bytes: Buffer) => boolean | Promise<boolean>) {
    this.#target = target;
    this.#cutsBefore = cutsBefore;
  }

  /** `cutsBefore` sees the bytes of clients, chunk by chunk: if it returns true, all connections are cut before the chunk is forwarded. */
  static async open(
    serverUrl: string,
    cutsBefore: (bytes: Buffer) => boolean | Promise<boolean> = () => false,
  ): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(Number(new URL(serverUrl).port), cutsBefore);
    await proxy.restore();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async restore(): Promise<void> {
    this.#server = createServer((client) => {
      const server = connect(this.#target, "127.0.0.1");
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          this.#sockets.delete(socket);
          this.#answers.delete(server);
          client.destroy();
          server.destroy();
        });
      }
      const gate = new Transform({
        transform: (bytes: Buffer, _, pass) => {
          void Promise.resolve(this.#cutsBefore(bytes)).then((cuts) =>
            cuts ? this.cut() : pass(null, bytes),
          );
        },
      });
      this.#answers.set(server, client);
      client.pipe(gate).pipe(server).pipe(client);
    });
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** New connections go to another server from now on. */
  retarget(serverUrl: string): void {
    this.#target = Number(new URL(serverUrl).port);
  }

  /** On the connections there are, nothing arrives any more; they stay open, and new ones work. */
  hush(): void {
    for (const [server, client] of this.#answers) {
      server.unpipe(client);
      server.resume();
    }
  }

  /** Ends every connection, and takes no new one. */
  async cut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    if (server.listening) await once(server, "close");
  }
}
