import { once } from "node:events";
import { request as request1 } from "node:http";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { ClientRequest, IncomingMessage } from "node:http";
import { createHash } from "node:crypto";

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** One request whose body the test sends itself. */
export interface OpenRequest {
  write(bytes: Uint8Array | string): Promise<void>;
  end(): void;
  /** Like a process that dies. */
  cut(): void;
  answer: Promise<HttpAnswer>;
}

/** Plain HTTP by one of its versions; paths are sent unchanged, without normalization. */
export interface HttpClient {
  version: string;
  open(method: string, path: string, headers?: Record<string, string>): OpenRequest;
  call(
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: Uint8Array | string,
  ): Promise<HttpAnswer>;
  close(): void;
}

export const VERSIONS = ["HTTP/1.1", "HTTP/2"] as const;

export function httpClient(url: string, version: (typeof VERSIONS)[number]): HttpClient {
  const client = version === "HTTP/2" ? overHttp2(url) : overHttp1(url);
  return {
    version,
    ...client,
    async call(method, path, headers = {}, body) {
      const request = client.open(method, path, headers);
      if (body !== undefined) {
        // A server that refuses early may stop reading: then writing blocks, but there is an answer.
        await Promise.race([request.write(body), request.answer]).catch(() => undefined);
      }
      request.end();
      return request.answer;
    },
  };
}

function overHttp1(url: string): Pick<HttpClient, "open" | "close"> {
  const { hostname, port } = new URL(url);
  return {
    close() {},
    open(method, path, headers = {}) {
      const request: ClientRequest = request1({ hostname, port, method, path, headers, agent: false });
      const answer = (async () => {
        const [response] = (await once(request, "response")) as [IncomingMessage];
        return { status: response.statusCode!, headers: response.headers, body: await bytesOf(response) };
      })();
      return opened(request, answer, () => request.destroy());
    },
  };
}

function overHttp2(url: string): Pick<HttpClient, "open" | "close"> {
  let session: ClientHttp2Session | undefined;
  const current = () => {
    if (session === undefined || session.destroyed || session.closed) {
      session = connect(url);
      session.on("error", () => {});
    }
    return session;
  };
  return {
    close: () => session?.destroy(),
    open(method, path, headers = {}) {
      const stream: ClientHttp2Stream = current().request(
        { ...headers, ":method": method, ":path": path },
        { endStream: false },
      );
      const answer = (async () => {
        const closed = once(stream, "close").then(() => Promise.reject(new Error("the stream closed")));
        const [head] = (await Promise.race([once(stream, "response"), closed])) as [Record<string, string>];
        closed.catch(() => undefined);
        return { status: Number(head[":status"]), headers: head, body: await bytesOf(stream) };
      })();
      return opened(stream, answer, () => stream.destroy());
    },
  };
}

function opened(
  out: ClientRequest | ClientHttp2Stream,
  answer: Promise<HttpAnswer>,
  cut: () => void,
): OpenRequest {
  out.on("error", () => {});
  answer.catch(() => {});
  return {
    answer,
    cut,
    end: () => void out.end(),
    write: (bytes) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      out.write(bytes, (error) => (error ? reject(error) : resolve()));
      return promise;
    },
  };
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function jsonOf(answer: HttpAnswer): Record<string, unknown> {
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}

export function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
