import { EventEmitter } from "node:events";
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { BodyPace } from "#server/listen/body-pace.ts";
import type { ConnectionTurns } from "#server/listen/connection-turns.ts";
import type { ProtocolServer } from "#server/listen/http1.ts";
import { type ListenLimits, sweepMs } from "#server/listen/limits.ts";

/** How long one half of a connection stays open after the other was closed. */
const LINGER_MS = 250;

/** Of streams in the turn of the event loop in which they began. */
const RESETS_AT_ONCE_MAX = 16;

export interface Http2Hooks {
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Gets every stream first. True: it was handled. */
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;
  /** Whether the client may be idle in the middle of a body sent to this path. */
  isClientStream: (path: string) => boolean;
  /** A connection or stream failed, which ends it. */
  onError: (error: Error) => void;
  /** An unexpected error while a stream began. Only that stream ends. */
  onFailure: (thrown: unknown) => void;
}

export function openHttp2(
  hooks: Http2Hooks,
  limits: ListenLimits,
  turns: ConnectionTurns,
  answerHeaders: Readonly<Record<string, string>> = {},
): ProtocolServer {
  const hasAnswerHeaders = Object.keys(answerHeaders).length > 0;
  const sessions = new Map<ServerHttp2Session, Activity>();
  /** Those whose clients must not be idle until their body is complete. */
  const bodies = new Map<ServerHttp2Stream, IncomingBody>();
  const server = createHttp2(limits);

  server.on("session", (session) => {
    const activity = followActivity(session, limits, turns);
    sessions.set(session, activity);
    session.on("close", () => sessions.delete(session));
    session.setLocalWindowSize(limits.connectionWindowBytes);
  });
  server.on("sessionError", hooks.onError);

  // Listening to "request" makes Node listen to "stream" itself. That listener is removed and called only for streams
  // that the hook declines.
  server.on("request", hooks.onRequest);
  server.on("checkContinue", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    // Node itself would throw if the stream has ended by now.
    if (!response.stream.destroyed && !response.stream.closed) response.writeContinue();
    hooks.onRequest(request, response);
  });
  const [compatible] = server.listeners("stream");
  server.removeAllListeners("stream");
  server.on("stream", (stream, headers, flags, rawHeaders) => {
    stream.on("error", hooks.onError);
    stream.once("close", () => letGo(stream, hooks.onError));
    if (hasAnswerHeaders) addToAnswer(stream, answerHeaders);
    const activity = sessions.get(stream.session as ServerHttp2Session);
    const isFirst = activity?.lastBegun === undefined;
    if (activity === undefined || !mayBegin(stream, activity) || isOver(stream)) return;
    const maySayNothing = hooks.isClientStream(headers[":path"] ?? "");
    watchProgress(stream, maySayNothing, limits.exchangeIdleMs);
    if (!maySayNothing && !stream.endAfterHeaders) {
      bodies.set(stream, { pace: new BodyPace(), bytes: undefined });
      stream.on("close", () => bodies.delete(stream));
    }
    const begin = () =>
      beginStream(stream, hooks.onFailure, () => {
        if (!hooks.onStream(stream, headers)) compatible?.call(server, stream, headers, flags, rawHeaders);
      });
    if (isFirst && activity.starts.isEmpty) begin();
    else activity.starts.add(begin);
  });

  const sweep = setInterval(
    () => {
      const nowMs = performance.now();
      for (const [session, activity] of sessions) closeIdle(session, activity, nowMs);
      for (const [stream, body] of bodies) {
        if (!isSending(stream)) bodies.delete(stream);
        else cancelSlow(stream, body, nowMs, limits);
      }
    },
    sweepMs(limits.sessionIdleMs, limits.firstStreamMs, limits.slowBodyMs),
  ).unref();

  return {
    take(socket) {
      closeBothHalves(socket);
      // Not resumed: the session reads from the handle itself, and gets the bytes that were put back.
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

function createHttp2(limits: ListenLimits): Http2Server {
  return createServer({
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
}

interface Activity {
  /** Streams that are there and have not begun. */
  starts: StreamStarts;
  /** Open now. */
  streams: Set<ServerHttp2Stream>;
  /** Of those, the ones that were closed at the last sweep. */
  over: Set<ServerHttp2Stream>;
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
  /** undefined until it is measured. */
  bytes: number | undefined;
}

function followActivity(session: ServerHttp2Session, limits: ListenLimits, turns: ConnectionTurns): Activity {
  const activity: Activity = {
    starts: new StreamStarts(turns),
    streams: new Set(),
    over: new Set(),
    lastBegun: undefined,
    resets: 0,
    idleMsMax: Math.min(limits.firstStreamMs, limits.sessionIdleMs),
    sinceMs: performance.now(),
  };
  session.on("stream", (stream) => {
    activity.streams.add(stream);
    activity.idleMsMax = limits.sessionIdleMs;
    stream.on("close", () => {
      activity.streams.delete(stream);
      activity.sinceMs = performance.now();
    });
  });
  return activity;
}

/** Bytes without a stream do not count: they may be half a header. */
function closeIdle(session: ServerHttp2Session, activity: Activity, nowMs: number): void {
  destroyStuck(activity);
  if (activity.streams.size > 0 || nowMs - activity.sinceMs <= activity.idleMsMax) return;
  // The first time it sends GOAWAY. In the middle of a header it would then wait for the rest of it.
  if (session.closed) session.destroy();
  else session.close();
}

function cancelSlow(
  stream: ServerHttp2Stream,
  body: IncomingBody,
  nowMs: number,
  limits: ListenLimits,
): void {
  if (body.bytes === undefined) countBytes(stream, body);
  else if (body.pace.isSlow(body.bytes, stream.readableLength === 0, nowMs, limits)) {
    stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** Whether the client has reset it by now. No handler will read it then, so it is destroyed here. */
function isOver(stream: ServerHttp2Stream): boolean {
  if (!stream.closed && !stream.destroyed) return false;
  stream.destroy();
  return true;
}

function beginStream(stream: ServerHttp2Stream, onFailure: Http2Hooks["onFailure"], serve: () => void): void {
  if (isOver(stream)) return;
  try {
    serve();
  } catch (thrown) {
    onFailure(thrown);
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/**
 * A stream that its client resets with the code for "no error" while its answer is being sent never ends, as of
 * Node 24.21, and with it neither does its session. Closed means that nothing can be sent any more.
 */
function destroyStuck(activity: Activity): void {
  const closed = new Set<ServerHttp2Stream>();
  for (const stream of activity.streams) {
    if (!stream.closed) continue;
    if (activity.over.has(stream)) stream.destroy();
    else closed.add(stream);
  }
  activity.over = closed;
}

/** Streams that wait for their connection's turn: all of a packet but the first, which begins at once. */
class StreamStarts {
  readonly #turns: ConnectionTurns;
  #waiting: (() => void)[] = [];
  #next = 0;

  constructor(turns: ConnectionTurns) {
    this.#turns = turns;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(begin: () => void): void {
    if (this.#waiting.push(begin) === 1) this.#turns.push(this);
  }

  beginNext(): boolean {
    this.#waiting[this.#next++]!();
    if (this.#next < this.#waiting.length) return true;
    this.#waiting = [];
    this.#next = 0;
    return false;
  }
}

/**
 * False when the connection is closed: its client resets streams as fast as it begins them. Node has a limit for that,
 * too, but checks it only after it has made a stream of everything that arrived.
 */
function mayBegin(stream: ServerHttp2Stream, activity: Activity): boolean {
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

/** Handlers of requests and handlers of streams both answer by `respond`, with an object. */
function addToAnswer(stream: ServerHttp2Stream, more: Readonly<Record<string, string>>): void {
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) => respond({ ...(headers as OutgoingHttpHeaders), ...more }, options);
}

/** From now on. Most bodies are complete long before the first check, and are not counted. */
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

/** Cancels a stream whose client is stalled: it neither sends nor reads. */
function watchProgress(stream: ServerHttp2Stream, maySayNothing: boolean, idleMs: number): void {
  stream.setTimeout(idleMs);
  // Node forgets the timer of a stream that ends with its session, and the timer holds the stream.
  const destroy = stream.destroy.bind(stream);
  stream.destroy = (error) => {
    stream.setTimeout(0);
    return destroy(error);
  };
  stream.on("timeout", () => {
    const silent = isSending(stream) && !maySayNothing && stream.readableLength === 0;
    if (silent || stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(idleMs);
  });
}

/**
 * A closed stream may stay in memory until the next full collection, because tables of Node's session that are garbage
 * themselves still hold it. What its listeners hold is released at once.
 */
function letGo(stream: ServerHttp2Stream, onError: (error: Error) => void): void {
  EventEmitter.prototype.removeAllListeners.call(stream);
  stream.on("error", onError);
}

/** A half-open socket is of no use here: without its reading half the session is over. */
function closeBothHalves(socket: Socket): void {
  socket.allowHalfOpen = false;
  socket.once("finish", () => destroyAfter(socket, LINGER_MS));
  // A stream that is stuck would keep the session, and with it the socket of a client that has gone.
  socket.once("end", () => destroyAfter(socket, LINGER_MS));
}

function destroyAfter(socket: Socket, delayMs: number): void {
  const timer = setTimeout(() => socket.destroy(), delayMs);
  socket.once("close", () => clearTimeout(timer));
}
