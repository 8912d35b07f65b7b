import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BodyPace } from "#server/listen/body-pace.ts";
import type { ConnectionTurns } from "#server/listen/connection-turns.ts";
import { type ListenLimits, sweepMs } from "#server/listen/limits.ts";

/** A server without a port of its own: it serves the sockets it is given. */
export interface ProtocolServer {
  take(socket: Socket): void;
  /** Closes idle connections now, and the others when they are idle. */
  drain(): void;
  /** Ends its timers. To be called when all sockets are closed. */
  close(): void;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  pace: BodyPace;
}

/** How long a client may continue to send a body after it was answered. */
const DISCARD_MS_MAX = 10_000;

/** With so many requests waiting on one connection nothing more is read from it until all are answered. */
const WAITING_MAX = 32;

export function openHttp1(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  limits: ListenLimits,
  turns: ConnectionTurns,
  answerHeaders: Readonly<Record<string, string>> = {},
): ProtocolServer {
  const headers = Object.entries(answerHeaders);
  const sockets = new Map<Socket, Connection>();
  let draining = false;

  const server = createHttp1(limits);

  server.on("request", (request, response) => {
    // Node may report that the client disconnected after all other listeners were removed.
    request.on("error", ignore);
    response.on("error", ignore);
    const { socket } = request;
    const connection = sockets.get(socket);
    // Its connection is closed already.
    if (connection === undefined) return;
    response.on("close", () => {
      if (!request.complete) discardRest(request, socket);
      connection.finish();
      if (draining && connection.isIdle) socket.destroySoon();
    });
    if (draining) response.setHeader("connection", "close");
    for (const [name, value] of headers) response.setHeader(name, value);
    connection.add({ request, response, pace: new BodyPace() });
  });

  server.on("timeout", (socket) => {
    const exchange = sockets.get(socket)?.current;
    if (exchange === undefined || isStalled(exchange, socket)) socket.destroy();
    else socket.setTimeout(limits.exchangeIdleMs);
  });

  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, { current: exchange }] of sockets) {
      if (exchange === undefined || exchange.request.complete) continue;
      const wanted = exchange.request.readableLength === 0;
      if (exchange.pace.isSlow(socket.bytesRead, wanted, nowMs, limits)) socket.destroy();
    }
  }, sweepMs(limits.slowBodyMs)).unref();

  return {
    take(socket) {
      const connection = new Connection(socket, turns, onRequest);
      sockets.set(socket, connection);
      socket.on("close", () => {
        sockets.delete(socket);
        connection.close();
      });
      server.emit("connection", socket);
      socket.resume();
    },
    drain() {
      draining = true;
      for (const [socket, connection] of sockets) {
        const last = connection.newest?.response;
        if (last === undefined) socket.destroySoon();
        else if (!last.headersSent) last.setHeader("connection", "close");
      }
    },
    close() {
      clearInterval(sweep);
      server.close();
    },
  };
}

function createHttp1(limits: ListenLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMs,
    // On the whole request, so it would cut long uploads; `exchangeIdleMs` is what stops a silent one.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: sweepMs(limits.headersMs),
  });
  server.timeout = limits.exchangeIdleMs;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.maxHeadersCount = limits.headersMax;
  // Node starts to watch `headersTimeout` when the server listens, which this one never does.
  server.emit("listening");
  return server;
}

/**
 * The state of one socket. Answers to pipelined requests must be sent in the order of the requests, so one is processed
 * at a time; the next begins when the one before is answered and other connections had their turn.
 */
class Connection {
  readonly #socket: Socket;
  readonly #turns: ConnectionTurns;
  readonly #begin: (request: IncomingMessage, response: ServerResponse) => void;
  /** The first is being worked on, unless it waits for its turn. */
  #exchanges: Exchange[] = [];
  /** The turn of the event loop in which the last one was begun. */
  #begunIn: number | undefined;
  /** Nothing is read from the socket. */
  #held = false;

  constructor(
    socket: Socket,
    turns: ConnectionTurns,
    begin: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.#socket = socket;
    this.#turns = turns;
    this.#begin = begin;
  }

  get current(): Exchange | undefined {
    return this.#exchanges[0];
  }

  get newest(): Exchange | undefined {
    return this.#exchanges.at(-1);
  }

  get isIdle(): boolean {
    return this.#exchanges.length === 0;
  }

  add(exchange: Exchange): void {
    this.#exchanges.push(exchange);
    if (this.#exchanges.length > 1) {
      // The parser reads the whole packet first, and resumes the socket after every request.
      if (this.#exchanges.length === WAITING_MAX) process.nextTick(() => this.#hold());
    } else if (this.#begunIn === this.#turns.turn) {
      // An answer may be sent before the parser has reached the next request of the same packet.
      this.#turns.push(this);
    } else this.beginNext();
  }

  /** The current one is answered, or its client is gone. */
  finish(): void {
    this.#exchanges.shift();
    if (this.#exchanges.length > 0) this.#turns.push(this);
    else this.#release();
  }

  #hold(): void {
    if (this.#held || this.#exchanges.length < WAITING_MAX) return;
    this.#held = true;
    this.#socket.pause();
    // Node would resume it as soon as a handler reads the body of the current request, which is here already.
    this.#socket.resume = () => this.#socket;
  }

  #release(): void {
    if (!this.#held) return;
    this.#held = false;
    delete (this.#socket as Partial<Socket>).resume;
    this.#socket.resume();
  }

  /** Of `Waiting`: one request at a time, so nothing is left to begin afterwards. */
  beginNext(): boolean {
    const exchange = this.#exchanges[0];
    if (exchange === undefined) return false;
    this.#begunIn = this.#turns.turn;
    this.#begin(exchange.request, exchange.response);
    return false;
  }

  /** The socket is closed: waiting requests are dropped. */
  close(): void {
    const response = this.current?.response;
    this.#exchanges = [];
    // Node only notifies the response that has the socket. Before this one Node answered a request itself.
    if (response?.socket === null) response.emit("close");
  }
}

function ignore(): void {}

/** The answer is sent, but the body is incomplete. The handler may have stopped reading. */
function discardRest(request: IncomingMessage, socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS_MAX);
  request.once("close", () => clearTimeout(timer));
  request.resume();
}

/** True when the client is stalled: it does not send its body, or does not read its answer. */
function isStalled({ request }: Exchange, socket: Socket): boolean {
  const silent = !request.complete && request.readableLength === 0;
  return silent || socket.writableLength > 0;
}
