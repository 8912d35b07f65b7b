import { constants, type ServerHttp2Stream } from "node:http2";

/** How long a client may take to see the answer before its stream is cut. */
const LINGER_MS = 250;

/**
 * Ends a stream whose answer is complete while its client may still be sending. At once would be right by
 * the protocol, but Node's own client then drops the answer it has not read yet.
 */
export function closeSoon(stream: ServerHttp2Stream): void {
  if (stream.state.remoteClose === 1) return;
  stream.resume();
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), LINGER_MS);
  stream.once("close", () => clearTimeout(timer));
}
