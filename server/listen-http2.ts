import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { ProtocolServer } from "#server/listen-http1.ts";
import type { ListenLimits } from "#server/listen-limits.ts";

/** How long a client may keep its half open after we have closed ours. */
const LINGER_MS = 250;

export interface Http2Hooks {
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Sees every stream first. True: it is taken care of. */
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;
  /** Whether the client may rightly be silent in the middle of a body sent to this path. */
  isClientStream: (path: string) => boolean;
  onError: (error: Error) => void;
}

export function openHttp2(hooks: Http2Hooks, limits: ListenLimits): ProtocolServer {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({
    maxSessionMemory: limits.sessionMemoryMb,
    maxHeaderListPairs: limits.headersMax,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    streamResetBurst: limits.streamResetBurst,
    streamResetRate: limits.streamResetsPerSecond,
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionMax,
      maxHeaderListSize: limits.headerBytesMax,
      initialWindowSize: limits.streamWindowBytes,
    },
  });

  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.setLocalWindowSize(limits.connectionWindowBytes);
    let streams = 0;
    session.on("stream", (stream) => {
      streams += 1;
      stream.on("close", () => (streams -= 1));
    });
    session.on("timeout", () => {
      if (streams === 0) session.close();
      else session.setTimeout(limits.sessionIdleMs);
    });
    session.setTimeout(limits.sessionIdleMs);
  });
  server.on("sessionError", hooks.onError);

  // Listening to "request" makes Node listen to "stream" itself. That listener is taken off and called only
  // for what the hook leaves over.
  server.on("request", hooks.onRequest);
  const [compatible] = server.listeners("stream");
  server.removeAllListeners("stream");
  server.on("stream", (stream, headers, flags, rawHeaders) => {
    stream.on("error", hooks.onError);
    watchProgress(stream, hooks.isClientStream(headers[":path"] ?? ""), limits.exchangeIdleMs);
    if (!hooks.onStream(stream, headers)) compatible?.call(server, stream, headers, flags, rawHeaders);
  });

  return {
    take(socket) {
      // A half-open socket is of no use here: without its reading half the session is over.
      socket.allowHalfOpen = false;
      socket.once("finish", () => destroyAfter(socket, LINGER_MS));
      // Not resumed: the session reads from the handle itself, and takes what was put back.
      server.emit("connection", socket);
    },
    drain() {
      for (const session of sessions) session.close();
    },
    close() {},
  };
}

/** Cancels a stream whose client owes something and does nothing: neither sends nor reads. */
function watchProgress(stream: ServerHttp2Stream, maySayNothing: boolean, idleMs: number): void {
  stream.setTimeout(idleMs);
  stream.on("timeout", () => {
    const state = stream.state.state;
    const sending =
      state === constants.NGHTTP2_STREAM_STATE_OPEN ||
      state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL;
    const silent = sending && !maySayNothing && stream.readableLength === 0;
    if (silent || stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(idleMs);
  });
}

function destroyAfter(socket: Socket, delayMs: number): void {
  const timer = setTimeout(() => socket.destroy(), delayMs);
  socket.once("close", () => clearTimeout(timer));
}
