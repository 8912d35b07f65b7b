import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { text } from "node:stream/consumers";
import { afterEach } from "vitest";
import { listen, type ListenOptions, type Listening } from "#server/listen/listen.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";

export const silentLog = { debug() {}, warn() {}, error() {} };

/** Opens ports and HTTP/2 clients, and closes them after each test of the file that calls this. */
export function usePorts(): {
  open(options?: Partial<ListenOptions>): Promise<Listening>;
  session(url: string, options?: object): ClientHttp2Session;
} {
  const toClose: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });
  return {
    async open(options = {}) {
      const listening = await listen({
        host: "127.0.0.1",
        port: 0,
        onRequest: echo,
        log: silentLog,
        ...options,
      });
      toClose.push(() => listening.close(0));
      return listening;
    },
    session(url, options = {}) {
      const client = connect(url, options);
      client.on("error", () => {});
      toClose.push(() => client.destroy());
      return client;
    },
  };
}

async function echo(request: HttpRequest, response: HttpResponse): Promise<void> {
  const body = await text(request);
  response.setHeader("content-type", "text/plain");
  response.end(`${request.httpVersion} ${request.method} ${request.url} ${body}`);
}

export interface Http2Answer {
  headers: IncomingHttpHeaders;
  body: string;
}

export async function callHttp2(
  client: ClientHttp2Session,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Http2Answer> {
  const stream = client.request({ ":path": "/", ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders];
  return { headers: answer, body: await text(stream) };
}
