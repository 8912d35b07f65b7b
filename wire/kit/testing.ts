import { once } from "node:events";
import { createServer } from "node:http";
import { type ClientHttp2Session, connect, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";

type Handle = (request: HttpRequest, response: HttpResponse) => void;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** The same handler behind both versions of HTTP, until the tests of the file are over. */
export async function serveBoth(handle: Handle): Promise<{ http1: string; http2: ClientHttp2Session }> {
  const one = createServer(handle).listen(0, "127.0.0.1");
  const two = createHttp2(handle).listen(0, "127.0.0.1");
  await Promise.all([once(one, "listening"), once(two, "listening")]);
  const http2 = connect(`http://127.0.0.1:${(two.address() as AddressInfo).port}`);
  afterAll(() => {
    http2.destroy();
    two.close();
    one.closeAllConnections();
    one.close();
  });
  return { http1: `http://127.0.0.1:${(one.address() as AddressInfo).port}`, http2 };
}

export async function callHttp2(
  client: ClientHttp2Session,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Uint8Array,
): Promise<Answer> {
  const stream = client.request(
    { ...headers, ":method": method, ":path": path },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  const [answer] = (await once(stream, "response")) as [Record<string, string>];
  return { status: Number(answer[":status"]), headers: answer, body: await text(stream) };
}
