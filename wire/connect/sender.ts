import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { HttpRequest } from "#wire/kit/http.ts";
import type { Connection, Sender } from "./core.ts";

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
