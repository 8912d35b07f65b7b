import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ListenLimits, sweepMs } from "#server/listen-limits.ts";
import { BodyPace } from "#server/body-pace.ts";

/** A server that listens nowhere: it serves the sockets it is given. */
export interface ProtocolServer {
  take(socket: Socket): void;
  /** Closes what is idle now, and the rest as soon as it is. */
  drain(): void;
  /** Ends its timers. To be called when all sockets are closed. */
  close(): void;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  pace: BodyPace;
}

export function openHttp1(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  limits: ListenLimits,
): ProtocolServer {
  /** All sockets, with what is going on on each; more than one exchange only when requests are pipelined. */
  const sockets = new Map<Socket, Exchange[]>();
  let draining = false;

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

  server.on("request", (request, response) => {
    const { socket } = request;
    const exchange = { request, response, pace: new BodyPace() };
    const exchanges = sockets.get(socket);
    exchanges?.push(exchange);
    response.on("close", () => {
      exchanges?.splice(exchanges.indexOf(exchange), 1);
      if (draining && exchanges?.length === 0) socket.destroySoon();
    });
    if (draining) response.setHeader("connection", "close");
    onRequest(request, response);
  });

  server.on("timeout", (socket) => {
    const exchange = sockets.get(socket)?.[0];
    if (exchange === undefined || isStalled(exchange, socket)) socket.destroy();
    else socket.setTimeout(limits.exchangeIdleMs);
  });

  const sweep = setInterval(() => {
    const nowMs = performance.now();
    for (const [socket, [exchange]] of sockets) {
      if (exchange === undefined || exchange.request.complete) continue;
      const wanted = exchange.request.readableLength === 0;
      if (exchange.pace.isSlow(socket.bytesRead, wanted, nowMs, limits)) socket.destroy();
    }
  }, sweepMs(limits.slowBodyMs)).unref();

  return {
    take(socket) {
      sockets.set(socket, []);
      socket.on("close", () => sockets.delete(socket));
      server.emit("connection", socket);
      socket.resume();
    },
    drain() {
      draining = true;
      for (const [socket, exchanges] of sockets) {
        const last = exchanges.at(-1)?.response;
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

/** True when the client owes something: a body it does not send, or an answer it does not read. */
function isStalled({ request }: Exchange, socket: Socket): boolean {
  const silent = !request.complete && request.readableLength === 0;
  return silent || socket.writableLength > 0;
}
