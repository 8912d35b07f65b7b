import { CairnError, quote } from "#lang/errors.ts";
import type { HttpRequest } from "#wire/kit/http.ts";

/**
 * A body piece by piece, for what is too large to be held. The next piece is read from the socket only
 * when it is asked for, so a slow disk slows the client down. It is not decompressed: what comes is what
 * is meant.
 *
 * Throws `invalid` (BODY_LENGTH, UNSUPPORTED_ENCODING) and `aborted` when the client goes away in the middle. Silence
 * of the client is ended by the server's own limits on a connection, or when `signal` is aborted: then its reason is
 * thrown. When it is returned before its end the
 * request is paused; `sendError` reads and forgets the rest.
 */
export async function* streamBody(
  request: HttpRequest,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw new CairnError(
      "invalid",
      `cannot read body: content encoding ${quote(encoding)} is not taken here`,
      {
        reason: "UNSUPPORTED_ENCODING",
        hint: "send the file as it is",
      },
    );
  }
  const declared = declaredLength(request);
  const pieces: Uint8Array[] = [];
  let state: "open" | "ended" | "gone" = isGone(request) ? "gone" : "open";
  let wake = Promise.withResolvers<void>();
  const onData = (piece: Uint8Array): void => {
    pieces.push(piece);
    request.pause();
    wake.resolve();
  };
  const onEnd = (): void => {
    // An HTTP/2 stream that was reset ends as if all had come.
    state = isGone(request) ? "gone" : "ended";
    wake.resolve();
  };
  const onGone = (): void => {
    if (state === "open") state = "gone";
    wake.resolve();
  };
  const onAbort = (): void => wake.resolve();
  request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  signal?.addEventListener("abort", onAbort);
  let bytes = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const piece = pieces.shift();
      if (piece !== undefined) {
        bytes += piece.byteLength;
        yield piece;
        continue;
      }
      if (state !== "open") break;
      wake = Promise.withResolvers<void>();
      request.resume();
      await wake.promise;
    }
  } finally {
    request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
    signal?.removeEventListener("abort", onAbort);
    // A socket that breaks from here on does not matter.
    request.on("error", ignore);
    if (state === "open") request.pause();
  }
  if (state === "gone") throw new CairnError("aborted", "cannot read body: the client disconnected");
  if (declared !== undefined && declared !== bytes) {
    const message = `cannot read body: content-length says ${declared} bytes, ${bytes} came`;
    throw new CairnError("invalid", message, { reason: "BODY_LENGTH" });
  }
}

/** The length the client announces; undefined when it does not. Throws `invalid` (BODY_LENGTH). */
export function declaredLength(request: HttpRequest): number | undefined {
  const header = request.headers["content-length"];
  if (header === undefined) return undefined;
  if (/^\d{1,15}$/.test(header)) return Number(header);
  throw new CairnError("invalid", `cannot read body: content-length ${quote(header)} is not a length`, {
    reason: "BODY_LENGTH",
  });
}

/** Whether the client disconnected before all had come. Of an HTTP/2 request only its stream knows. */
function isGone(request: HttpRequest): boolean {
  if ("stream" in request) return request.stream.aborted || request.stream.destroyed;
  return request.destroyed;
}

function ignore(): void {}
