import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  status: number;
  /** Head and body, as they came. */
  text: string;
  body: Buffer;
}

/**
 * HTTP/1.1 without a library that would make targets decent before it sends them: one request after another
 * on one connection, a new one whenever the server closes it.
 */
export class RawHttp {
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  async call(method: string, target: string, body = "", headers = ""): Promise<RawAnswer> {
    const socket = await this.#open();
    const bytes = Buffer.from(body);
    const head = `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\n${headers}content-length: ${bytes.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
    for (;;) {
      const answer = this.#parse(method);
      if (answer !== undefined) return answer;
      // A server that closes without a word has refused, too.
      if (socket.destroyed) return { status: 400, text: "", body: Buffer.alloc(0) };
      await Promise.race([once(socket, "data"), once(socket, "close")]);
    }
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<Socket> {
    if (this.#socket?.destroyed === false && this.#socket.readable) return this.#socket;
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#received = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => (this.#received = Buffer.concat([this.#received, chunk])));
    socket.on("end", () => socket.destroy());
    await once(socket, "connect");
    this.#socket = socket;
    return socket;
  }

  #parse(method: string): RawAnswer | undefined {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const head = this.#received.toString("latin1", 0, end);
    const length = method === "HEAD" ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return undefined;
    const body = this.#received.subarray(end + 4, end + 4 + length);
    const text = this.#received.toString("latin1", 0, end + 4 + length);
    this.#received = this.#received.subarray(end + 4 + length);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    if (/\r\nconnection: close/i.test(head)) this.#socket?.destroy();
    return { status, text, body };
  }
}
