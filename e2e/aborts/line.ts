import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

const CONNECT_MS = 5_000;

/** A connection that can be ended in any way. Received bytes are counted and discarded. */
export class Line {
  /** Below TLS. Without TLS the same as `socket`. */
  readonly raw: Socket;
  readonly socket: Socket;
  #receivedBytes = 0;
  #isOpen = false;

  constructor(port: number, tls: { alpn: string | undefined } | undefined) {
    this.raw = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    this.raw.on("error", () => {});
    this.socket =
      tls === undefined
        ? this.raw
        : connectTls({
            socket: throughStream(this.raw),
            // Whose it is does not matter here.
            rejectUnauthorized: false,
            ...(tls.alpn !== undefined && { ALPNProtocols: [tls.alpn] }),
          });
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => (this.#receivedBytes += chunk.length));
    this.socket.once(tls === undefined ? "connect" : "secureConnect", () => (this.#isOpen = true));
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** False when the server did not take it. */
  async opened(): Promise<boolean> {
    await this.until(() => this.#isOpen, CONNECT_MS);
    return this.#isOpen && !this.socket.destroyed;
  }

  /** Resolves when the kernel has the bytes, or will never have them. */
  async send(bytes: Uint8Array, deadlineMs: number): Promise<void> {
    let sent = false;
    this.socket.write(bytes, () => {
      sent = true;
      this.socket.emit("sent");
    });
    await this.until(() => sent, deadlineMs);
  }

  /** Until the condition holds, the connection is over or the time is up. */
  async until(condition: () => boolean, deadlineMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (condition() || this.socket.destroyed) resolve();
    };
    const timer = setTimeout(resolve, deadlineMs);
    const events = ["connect", "secureConnect", "data", "sent", "end", "close"];
    for (const event of events) this.socket.on(event, look);
    look();
    await promise;
    clearTimeout(timer);
    for (const event of events) this.socket.off(event, look);
  }

  /** RST instead of FIN. */
  reset(): void {
    if (!this.raw.destroyed) this.raw.resetAndDestroy();
    this.socket.destroy();
  }

  async closed(): Promise<void> {
    this.raw.destroy();
    this.socket.destroy();
    for (const socket of [this.raw, this.socket]) {
      if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
    }
  }
}

/**
 * The same bytes without the handle. Where TLS has the handle itself, Node 24 crashes when the socket and the TLS socket on it
 * are destroyed in one turn of the event loop, and here either may come first.
 */
function throughStream(raw: Socket): Duplex {
  const stream = new Duplex({
    read: () => void raw.resume(),
    write: (chunk: Buffer, _, done) => {
      if (raw.destroyed) done(new Error("the connection is over"));
      else raw.write(chunk, done);
    },
    final: (done) => {
      raw.end();
      done();
    },
    destroy: (error, done) => {
      raw.destroy();
      done(error);
    },
  });
  stream.on("error", () => {});
  raw.on("data", (chunk) => {
    try {
      if (!stream.push(chunk)) raw.pause();
    } catch (thrown) {
      // Now and then the TLS of Node 24 writes into a stream that it is ending, and asserts that it does not.
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ERR_INTERNAL_ASSERTION"))
        throw thrown;
      stream.destroy();
    }
  });
  raw.on("end", () => stream.push(null));
  raw.on("close", () => stream.destroy());
  return stream;
}
