import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A socket that collects the received bytes and can be waited on. */
export class RawClient {
  readonly socket: Socket;
  #received: Buffer = Buffer.alloc(0);

  static async connect(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<RawClient> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, ...options });
    await once(socket, "connect");
    return new RawClient(socket);
  }

  constructor(socket: Socket) {
    this.socket = socket;
    // One per wait that something else ended.
    socket.setMaxListeners(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => (this.#received = Buffer.concat([this.#received, chunk])));
  }

  get received(): Buffer {
    return this.#received;
  }

  get text(): string {
    return this.#received.toString("latin1");
  }

  /** Resolves once the kernel has the bytes. */
  async send(bytes: string | Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.socket.write(bytes, () => resolve());
    await promise;
  }

  /** One write per byte, each after the one before has left. */
  async sendByteByByte(bytes: Uint8Array): Promise<void> {
    for (const byte of bytes) {
      await this.send(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async until(condition: (client: this) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.socket.destroyed) throw new Error(`the connection closed after ${JSON.stringify(this.text)}`);
      await Promise.race([once(this.socket, "data"), once(this.socket, "close")]);
    }
  }

  /** Also by a reset, which comes when the server had not read everything. */
  async closed(): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise((resolve) => this.socket.once("close", resolve));
  }
}
