import { Agent, request } from "node:http";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";

export const WRITE = "/cairn.v1.MetricService/WriteEnvelope";

/** Sends one message and resolves when its answer is complete. One at a time per connection. */
export interface Connection {
  send(body: Uint8Array): Promise<void>;
  close(): void;
}

/** gRPC over h2c. Connections may share a session, as the streams of a real client do. */
export function grpcConnection(session: ClientHttp2Session): Connection {
  const head = Buffer.alloc(5);
  return {
    send: (body) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": WRITE,
          "content-type": "application/grpc",
          te: "trailers",
        });
        let status: string | undefined;
        stream.on("response", (headers) => (status = headers["grpc-status"] as string | undefined));
        stream.on("trailers", (trailers) => (status = trailers["grpc-status"] as string | undefined));
        stream.on("error", reject);
        stream.on("close", () => {
          if (status === "0") resolve();
          else reject(new Error(`grpc-status ${status}`));
        });
        stream.resume();
        head.writeUInt32BE(body.length, 1);
        stream.end(Buffer.concat([head, body]));
      }),
    close: () => undefined,
  };
}

export function grpcSession(url: string): ClientHttp2Session {
  return connectHttp2(url);
}

/** Connect over HTTP/1.1 on a bare socket: the cheapest client there is. */
export function connectConnection(port: number): Connection {
  const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const head = (size: number) =>
    `POST ${WRITE} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/proto\r\ncontent-length: ${size}\r\n\r\n`;
  let received = "";
  let waiting: { resolve(): void; reject(error: Error): void } | undefined;
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const ok = received.startsWith("HTTP/1.1 200");
    const answer = received;
    received = "";
    if (ok) waiting?.resolve();
    else waiting?.reject(new Error(answer.slice(0, 400)));
  });
  socket.on("error", (error) => waiting?.reject(error));
  return {
    send: (body) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(head(body.length), "latin1");
        socket.write(body);
      }),
    close: () => socket.destroy(),
  };
}

const agent = new Agent({ keepAlive: true });

/** A binary call without fetch, whose streams cost more than the server's work. */
export function post(
  port: number,
  method: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: "127.0.0.1",
        path: `/cairn.v1.${method}`,
        method: "POST",
        headers: { "content-type": "application/proto", "content-length": body.length, ...headers },
        agent,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const answer = Buffer.concat(chunks);
          if (response.statusCode === 200) resolve(answer);
          else reject(new Error(answer.toString()));
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A call of the API by JSON, if speed does not matter. */
export async function call<T>(url: string, method: string, body: unknown): Promise<T> {
  const response = await fetch(`${url}/cairn.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method}: ${answer.slice(0, 400)}`);
  return JSON.parse(answer) as T;
}

export async function createRun(url: string, name: string): Promise<string> {
  const { run } = await call<{ run: { id: string } }>(url, "RunService/CreateRun", {
    namespace: "bench",
    name,
  });
  return run.id;
}
