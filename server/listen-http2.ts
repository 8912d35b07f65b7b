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
import { BodyPace } from "#server/body-pace.ts";
import type { ProtocolServer } from "#server/listen-http1.ts";
import { type ListenLimits, sweepMs } from "#server/listen-limits.ts";

/** How long a client may keep its half open after we have closed ours. */
const LINGER_MS = 250;

/** Of streams in the turn of the event loop in which they began. */
const RESETS_AT_ONCE_MAX = 16;

export interface Http2Hooks {
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Sees every stream first. True: it is taken care of. */
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;
  /** Whether the client may rightly be silent in the middle of a body sent to this path. */
  isClientStream: (path: string) => boolean;
  onError: (error: Error) => void;
}

export function openHttp2(hooks: Http2Hooks, limits: ListenLimits): ProtocolServer {
  const sessions = new Map<ServerHttp2Session, Activity>();
  /** Those whose clients must not be silent until they have sent all. */
  const bodies = new Map<ServerHttp2Stream, IncomingBody>();
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
    const activity: Activity = {
      streams: 0,
      lastBegun: undefined,
      resets: 0,
      idleMsMax: Math.min(limits.firstStreamMs, limits.sessionIdleMs),
      sinceMs: performance.now(),
    };
    sessions.set(session, activity);
    session.on("close", () => sessions.delete(session));
    session.setLocalWindowSize(limits.connectionWindowBytes);
    session.on("stream", (stream) => {
      activity.streams += 1;
      activity.idleMsMax = limits.sessionIdleMs;
      stream.on("close", () => {
        activity.streams -= 1;
        activity.sinceMs = performance.now();
      });
    });
  });
  server.on("sessionError", hooks.onError);

  // Listening to "request" makes Node listen to "stream" itself. That listener is taken off and called only
  // for what the hook leaves over.
  server.on("request", hooks.onRequest);
  const [compatible] = server.listeners("stream");
  server.removeAllListeners("stream");
  server.on("stream", (stream, headers, flags, rawHeaders) => {
    stream.on("error", hooks.onError);
    if (!mayBegin(stream, sessions.get(stream.session as ServerHttp2Session))) return;
    const maySayNothing = hooks.isClientStream(headers[":path"] ?? "");
    watchProgress(stream, maySayNothing, limits.exchangeIdleMs);
    if (!maySayNothing && !stream.endAfterHeaders) {
      bodies.set(stream, { pace: new BodyPace(), bytes: undefined });
      stream.on("close", () => bodies.delete(stream));
    }
    if (!hooks.onStream(stream, headers)) compatible?.call(server, stream, headers, flags, rawHeaders);
  });

  const sweep = setInterval(
    () => {
      const nowMs = performance.now();
      // What bytes a client sends without a stream is of no interest: they may be half a header.
      for (const [session, { streams, idleMsMax, sinceMs }] of sessions) {
        if (streams > 0 || nowMs - sinceMs <= idleMsMax) continue;
        // The first time it says goodbye. In the middle of a header it would then wait for the rest of it.
        if (session.closed) session.destroy();
        else session.close();
      }
      for (const [stream, body] of bodies) {
        if (!isSending(stream)) bodies.delete(stream);
        else if (body.bytes === undefined) countBytes(stream, body);
        else if (body.pace.isSlow(body.bytes, stream.readableLength === 0, nowMs, limits)) {
          stream.close(constants.NGHTTP2_CANCEL);
        }
      }
    },
    sweepMs(limits.sessionIdleMs, limits.firstStreamMs, limits.slowBodyMs),
  ).unref();

  return {
    take(socket) {
      // A half-open socket is of no use here: without its reading half the session is over.
      socket.allowHalfOpen = false;
      socket.once("finish", () => destroyAfter(socket, LINGER_MS));
      // Not resumed: the session reads from the handle itself, and takes what was put back.
      server.emit("connection", socket);
    },
    drain() {
      for (const session of sessions.keys()) session.close();
    },
    close() {
      clearInterval(sweep);
    },
  };
}

interface Activity {
  /** Open now. */
  streams: number;
  /** In this turn of the event loop, if any. */
  lastBegun: ServerHttp2Stream | undefined;
  /** Streams of this turn that were reset before the next one began. */
  resets: number;
  /** How long it may have none. */
  idleMsMax: number;
  /** When the last one was closed. */
  sinceMs: number;
}

interface IncomingBody {
  pace: BodyPace;
  /** undefined until somebody counts. */
  bytes: number | undefined;
}

/**
 * False when the connection is over: its client resets streams as fast as it begins them. Node has a limit for
 * that, too, but looks only after it has made a stream of everything that came.
 */
function mayBegin(stream: ServerHttp2Stream, activity: Activity | undefined): boolean {
  if (activity === undefined) return false;
  if (activity.lastBegun === undefined) {
    setImmediate(() => {
      activity.lastBegun = undefined;
      activity.resets = 0;
    });
  } else if (activity.lastBegun.closed && ++activity.resets > RESETS_AT_ONCE_MAX) {
    stream.session?.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return false;
  }
  activity.lastBegun = stream;
  return true;
}

/** From now on. Most bodies are whole long before anybody looks, and nothing is counted for them. */
function countBytes(stream: ServerHttp2Stream, body: IncomingBody): void {
  body.bytes = 0;
  const push = stream.push.bind(stream);
  stream.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    body.bytes! += chunk?.length ?? 0;
    return push(chunk, encoding);
  };
}

function isSending({ state }: ServerHttp2Stream): boolean {
  return (
    state.state === constants.NGHTTP2_STREAM_STATE_OPEN ||
    state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL
  );
}

/** Cancels a stream whose client owes something and does nothing: neither sends nor reads. */
function watchProgress(stream: ServerHttp2Stream, maySayNothing: boolean, idleMs: number): void {
  stream.setTimeout(idleMs);
  stream.on("timeout", () => {
    const silent = isSending(stream) && !maySayNothing && stream.readableLength === 0;
    if (silent || stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(idleMs);
  });
}

function destroyAfter(socket: Socket, delayMs: number): void {
  const timer = setTimeout(() => socket.destroy(), delayMs);
  socket.once("close", () => clearTimeout(timer));
}
