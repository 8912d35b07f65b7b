import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { CairnError, quote } from "#lang/errors.ts";
import { ConnectionTurns } from "#server/listen/connection-turns.ts";
import { openHttp1, type ProtocolServer } from "#server/listen/http1.ts";
import { openHttp2 } from "#server/listen/http2.ts";
import { type ListenLimits, listenLimits, sweepMs } from "#server/listen/limits.ts";
import { type Protocol, sniff } from "#server/listen/sniff.ts";
import { tlsOptions, type TlsPair } from "#server/listen/tls-options.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { sendError } from "#wire/kit/respond.ts";

/** As many connections may wait to be accepted; the kernel may allow fewer. */
const BACKLOG = 4096;
const TCP_KEEP_ALIVE_MS = 60_000;
/** As Node defines it: the name, and the keys for encryption and check of session tickets. */
const TICKET_KEYS_BYTES = 48;

/** The part of a pino logger that is used. */
export interface ListenLog {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface ListenOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** With it the port speaks TLS only, with ALPN. */
  tls?: TlsPair | undefined;
  /** Headers of every answer, but for what Node itself refuses over HTTP/1 (400, 408, 417, 431). */
  answerHeaders?: Readonly<Record<string, string>> | undefined;
  /** Called for HTTP/1 and HTTP/2. If it throws, the request is answered with an error. */
  onRequest: (request: HttpRequest, response: HttpResponse) => void | Promise<void>;
  /**
   * Gets every HTTP/2 stream before it is made into a request. True: it was handled, and `onRequest` is not called. It
   * must answer its own errors; if it throws, that is logged and ends the stream.
   */
  onStream?: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;
  /** Whether clients stream to this path, and so may be idle for long in the middle of a body. */
  isClientStream?: (path: string) => boolean;
  limits?: Partial<ListenLimits>;
  log: ListenLog;
}

export interface Listening {
  /** An address that can be opened; "localhost" where the port is bound to every address. */
  url: string;
  port: number;
  address: string;
  counts(): { open: number; accepted: number; refused: number };
  /** For connections from now on. Throws `invalid` and changes nothing when the two do not belong together. */
  useCertificate(pair: TlsPair): void;
  /**
   * Stops accepting, notifies every client (GOAWAY, "connection: close"), lets requests in flight finish until the
   * deadline and then cuts them off. Resolves when the last socket is closed; at once when all are
   * idle. A second call can bring the deadline forward.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Opens the port. Throws `precondition` when it is in use, `invalid` for a bad host or certificate. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const port = new Port(options, { ...listenLimits, ...options.limits });
  await port.open();
  return port;
}

class Port implements Listening {
  readonly #options: ListenOptions;
  readonly #limits: ListenLimits;
  readonly #front: Server;
  readonly #tls: TlsServer | undefined;
  readonly #protocols: Readonly<Record<Protocol, ProtocolServer>>;
  /** Accepted sockets, with the one to destroy to end each: a TLS socket instead of the one below it. */
  readonly #sockets = new Map<Socket, Socket>();
  /** Those whose protocol is not known yet, by peer: a TLS socket and the one below it have the same. */
  readonly #undecided = new Map<string, Socket>();
  readonly #perAddress = new Map<string, number>();
  #bound: AddressInfo = { address: "", family: "", port: 0 };
  #accepted = 0;
  #refused = 0;
  #closed: Promise<void> | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #ticketKeys: NodeJS.Timeout | undefined;

  constructor(options: ListenOptions, limits: ListenLimits) {
    this.#options = options;
    this.#limits = limits;
    const onRequest = (request: HttpRequest, response: HttpResponse): void => this.#answer(request, response);
    const turns = new ConnectionTurns();
    this.#protocols = {
      http1: openHttp1(onRequest, limits, turns, options.answerHeaders),
      http2: openHttp2(
        {
          onRequest,
          onStream: (stream, headers) => options.onStream?.(stream, headers) ?? false,
          isClientStream: options.isClientStream ?? (() => false),
          onError: (error) => options.log.debug({ error: error.message }, "http2 connection failed"),
          onFailure: (thrown) => this.#logFailure(randomUUID(), CairnError.from(thrown)),
        },
        limits,
        turns,
        options.answerHeaders,
      ),
    };
    this.#tls = options.tls === undefined ? undefined : this.#openTls(options.tls);
    this.#front = createServer(
      { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
      (socket) => this.#accept(socket),
    );
  }

  async open(): Promise<void> {
    const { host, port, log } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#front.once("error", reject);
    this.#front.listen({ host, port, backlog: BACKLOG }, resolve);
    try {
      await promise;
    } catch (cause) {
      for (const protocol of Object.values(this.#protocols)) protocol.close();
      throw listenRefusal(host, port, cause);
    }
    this.#bound = this.#front.address() as AddressInfo;
    this.#front.off("error", reject);
    // Such as no more file descriptors: the connection is lost, the port stays open.
    this.#front.on("error", (error) => log.warn({ error: error.message }, "cannot accept connection"));
  }

  get port(): number {
    return this.#bound.port;
  }

  get address(): string {
    return this.#bound.address;
  }

  get url(): string {
    const { host } = this.#options;
    const everywhere = host === "" || host === "::" || host === "0.0.0.0";
    const name = everywhere ? "localhost" : isIPv6(host) ? `[${host}]` : host;
    return `${this.#tls === undefined ? "http" : "https"}://${name}:${this.port}`;
  }

  counts(): { open: number; accepted: number; refused: number } {
    return { open: this.#sockets.size, accepted: this.#accepted, refused: this.#refused };
  }

  useCertificate(pair: TlsPair): void {
    this.#tls?.setSecureContext(tlsOptions(pair));
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed ??= this.#drain();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets.values()) socket.destroy();
    }, deadlineMs);
    try {
      await this.#closed;
    } finally {
      clearTimeout(timer);
    }
  }

  async #drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#front.close(() => resolve());
    for (const socket of this.#undecided.values()) socket.destroy();
    for (const protocol of Object.values(this.#protocols)) protocol.drain();
    await promise;
    // The last sockets are gone, but their events are still pending.
    await Promise.all([...this.#sockets.keys()].map((socket) => once(socket, "close")));
    clearInterval(this.#sweep);
    clearInterval(this.#ticketKeys);
    for (const protocol of Object.values(this.#protocols)) protocol.close();
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress;
    socket.on("error", (error) =>
      this.#options.log.debug({ address, error: error.message }, "socket failed"),
    );
    if (address === undefined || !this.#admit(socket, address)) {
      this.#refused += 1;
      socket.destroy();
      return;
    }
    this.#accepted += 1;
    if (this.#tls === undefined) {
      sniff(socket, this.#limits.sniffMs, (protocol) => this.#hand(socket, protocol));
    } else {
      socket.allowHalfOpen = false;
      this.#tls.emit("connection", socket);
    }
  }

  #admit(socket: Socket, address: string): boolean {
    const fromThere = this.#perAddress.get(address) ?? 0;
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
    if (this.#sockets.size >= connectionsMax || fromThere >= connectionsPerAddressMax) return false;
    const peer = peerOf(socket);
    this.#sockets.set(socket, socket);
    this.#undecided.set(peer, socket);
    this.#perAddress.set(address, fromThere + 1);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (this.#undecided.get(peer) === socket) this.#undecided.delete(peer);
      const left = this.#perAddress.get(address)! - 1;
      if (left === 0) this.#perAddress.delete(address);
      else this.#perAddress.set(address, left);
    });
    return true;
  }

  #openTls(pair: TlsPair): TlsServer {
    const server = createTlsServer({
      ...tlsOptions(pair),
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: this.#limits.sniffMs,
    });
    server.on("tlsClientError", (error, socket) => {
      this.#options.log.debug(
        { address: socket.remoteAddress, error: error.message },
        "TLS handshake failed",
      );
      socket.destroy();
    });
    server.on("secureConnection", (socket) => {
      socket.on("error", (error) => this.#options.log.debug({ error: error.message }, "socket failed"));
      const below = this.#undecided.get(peerOf(socket));
      if (below !== undefined) this.#sockets.set(below, socket);
      this.#hand(socket, socket.alpnProtocol === "h2" ? "http2" : "http1");
    });
    this.#sweep = setInterval(() => this.#endDead(), sweepMs(this.#limits.sniffMs)).unref();
    // They decrypt every TLS 1.2 connection that was resumed with them, so they must not live as long as the process.
    this.#ticketKeys = setInterval(() => {
      server.setTicketKeys(randomBytes(TICKET_KEYS_BYTES));
    }, this.#limits.ticketKeysMs).unref();
    return server;
  }

  /**
   * A client that resets its connection while TLS writes internally (the end of the handshake, an answer) is not
   * noticed: Node drops the error of that write and does not check the socket again, as of 24.21. The system knows that
   * the peer is gone.
   */
  #endDead(): void {
    for (const [socket, top] of this.#sockets) {
      const { _handle: handle } = socket as { _handle?: { getpeername?(into: object): number } };
      if ((handle?.getpeername?.({}) ?? 0) < 0) top.destroy();
    }
  }

  #hand(socket: Socket, protocol: Protocol): void {
    this.#undecided.delete(peerOf(socket));
    this.#protocols[protocol].take(socket);
  }

  #answer(request: HttpRequest, response: HttpResponse): void {
    const fail = (thrown: unknown): void => {
      const failure = sendError(request, response, thrown);
      if (failure === undefined) return;
      this.#logFailure(failure.incident, failure.error);
    };
    try {
      const done = this.#options.onRequest(request, response);
      if (done !== undefined) done.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  #logFailure(incident: string, { message, stack }: CairnError): void {
    this.#options.log.error({ incident, error: message, stack }, "request failed");
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

function listenRefusal(host: string, port: number, cause: unknown): CairnError {
  const where = quote(`${isIPv6(host) ? `[${host}]` : host}:${port}`);
  const code = (cause as NodeJS.ErrnoException).code;
  const refuse = (kind: "precondition" | "invalid", why: string, hint: string): CairnError =>
    new CairnError(kind, `cannot listen on ${where}: ${why}`, { cause, hint });
  switch (code) {
    case "EADDRINUSE":
      return refuse(
        "precondition",
        `port ${port} is in use`,
        `Stop the program that uses port ${port}, or choose another with --port.`,
      );
    case "EACCES":
      return refuse("precondition", `port ${port} needs more rights`, "Choose one above 1023 with --port.");
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return refuse("invalid", "it is not an address of this machine", "Choose another with --host.");
    default:
      return refuse("precondition", (cause as Error).message, "Choose others with --host and --port.");
  }
}
