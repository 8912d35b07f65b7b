import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { HttpRequest } from "#wire/kit/http.ts";

/** What a request says about who sent it. */
export interface Sender {
  address: string | undefined;
  /** A browser asks for this content by itself, for an image, a frame or a link, and can add no header. */
  byBrowser?: boolean;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The same object for all requests of a connection; undefined once it is gone. */
  connection: Connection | undefined;
}

/** Both ends of a TCP connection, as sockets have them; undefined once it is closed. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Who sent a request of either version of HTTP. */
export function senderOf(request: HttpRequest): Sender {
  if ("stream" in request) return senderOfStream(request.stream, request.headers);
  return senderAt(request.socket, request.headers);
}

/** The connection of a stream is that of its session: each request of HTTP/2 has a socket of its own making. */
export function senderOfStream(
  stream: Pick<ServerHttp2Stream, "session">,
  headers: IncomingHttpHeaders,
): Sender {
  return senderAt(stream.session?.socket, headers);
}

function senderAt(connection: Connection | undefined, headers: Sender["headers"]): Sender {
  return { address: connection?.remoteAddress, connection, headers };
}
