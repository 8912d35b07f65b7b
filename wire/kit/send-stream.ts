import type { Writable } from "node:stream";
import type { HttpResponse } from "#wire/kit/http.ts";

/**
 * Sends a body piece by piece, the next one when the client has taken enough of those before: a slow reader
 * costs no memory. The head must be set, with its content-length. A client that goes away ends it
 * quietly; what `body` throws is thrown, and the exchange must then be cut off (`sendError` does). So is the reason of
 * `signal` once that is aborted, also while the client takes nothing.
 */
export async function sendStream(
  response: HttpResponse,
  body: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const out: Writable = response;
  // Of an HTTP/2 response only its stream knows.
  let gone = "stream" in response ? response.stream.destroyed : response.destroyed;
  let wake = Promise.withResolvers<void>();
  const onDrain = (): void => wake.resolve();
  const onClose = (): void => {
    gone = true;
    wake.resolve();
  };
  out.on("drain", onDrain).on("close", onClose).on("error", onClose);
  signal?.addEventListener("abort", onDrain);
  try {
    for await (const piece of body) {
      if (gone) return;
      signal?.throwIfAborted();
      wake = Promise.withResolvers<void>();
      if (!out.write(piece)) await wake.promise;
      if (gone) return;
      signal?.throwIfAborted();
    }
    out.end();
  } finally {
    out.off("drain", onDrain).off("close", onClose);
    signal?.removeEventListener("abort", onDrain);
  }
}
