import { limits } from "#lang/limits.ts";

/** Limits of one port for its clients. */
export interface ListenLimits {
  connectionsMax: number;
  connectionsPerAddressMax: number;
  /** Until the protocol is known, or the TLS handshake is done. */
  sniffMs: number;
  /** How long a TLS session can be resumed at most: then the keys of its ticket are replaced. */
  ticketKeysMs: number;
  /** For all headers of an HTTP/1 request. */
  headersMs: number;
  headerBytesMax: number;
  headersMax: number;
  /**
   * How long a client in the middle of an exchange may neither send its body nor read its answer. There is no limit on
   * the whole exchange: uploads and streams may last for days. A bit more
   * than the readers of bodies allow, so that their answer comes first.
   */
  exchangeIdleMs: number;
  /**
   * Over this time a body must arrive at this rate, as far as the server reads it: a client that sends single bytes
   * only holds the connection.
   */
  slowBodyMs: number;
  bodyBytesPerSecondMin: number;
  /** An HTTP/1 connection between two requests; more than the 60 s of common balancers. */
  keepAliveMs: number;
  /** An HTTP/2 connection without open streams. */
  sessionIdleMs: number;
  /** Until the first stream of an HTTP/2 connection, whose headers may arrive one byte at a time. */
  firstStreamMs: number;
  requestsPerConnectionMax: number;
  streamsPerConnectionMax: number;
  /** Streams a client may reset at once, and each second after that. */
  streamResetBurst: number;
  streamResetsPerSecond: number;
  sessionMemoryMb: number;
  streamWindowBytes: number;
  connectionWindowBytes: number;
}

/** How often to look whether one of these times is over. */
export function sweepMs(...times: number[]): number {
  return Math.max(10, Math.min(5_000, ...times.map((time) => time / 4)));
}

export const listenLimits: ListenLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 2_000,
  sniffMs: 10_000,
  ticketKeysMs: 3_600_000,
  headersMs: 30_000,
  headerBytesMax: 32 << 10,
  headersMax: 128,
  exchangeIdleMs: 75_000,
  slowBodyMs: 60_000,
  bodyBytesPerSecondMin: 1_024,
  keepAliveMs: 65_000,
  sessionIdleMs: 600_000,
  firstStreamMs: 60_000,
  requestsPerConnectionMax: 1_000_000,
  streamsPerConnectionMax: limits.streamsPerConnectionMax,
  streamResetBurst: 200,
  streamResetsPerSecond: 50,
  sessionMemoryMb: 32,
  streamWindowBytes: 1 << 20,
  connectionWindowBytes: 8 << 20,
};
