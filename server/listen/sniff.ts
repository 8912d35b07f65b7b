import type { Socket } from "node:net";

/**
 * Distinguishes HTTP/2 from HTTP/1 on one cleartext port. An HTTP/2 client sends first, always the same 24 bytes; the
 * first byte that differs means HTTP/1, or invalid data, which the HTTP/1 parser refuses with a proper 400. A client
 * may send one byte at a time, so the bytes are held until the protocol is known.
 */
export type Protocol = "http1" | "http2";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** undefined while the bytes may still become either. */
function protocolOf(bytes: Uint8Array): Protocol | undefined {
  const length = Math.min(bytes.length, PREFACE.length);
  if (PREFACE.compare(bytes, 0, length, 0, length) !== 0) return "http1";
  return length === PREFACE.length ? "http2" : undefined;
}

/**
 * Reads from the socket until its protocol is known, puts back the bytes it read, removes its listeners and hands the
 * socket over. A socket whose protocol is not known in time, or that closes before, is
 * destroyed and never handed over.
 */
export function sniff(socket: Socket, deadlineMs: number, onKnown: (protocol: Protocol) => void): void {
  let held: Buffer = Buffer.alloc(0);
  const drop = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(drop, deadlineMs);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off("data", onData).off("end", drop).off("close", stop);
  };
  const onData = (chunk: Buffer): void => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const protocol = protocolOf(held);
    if (protocol === undefined) return;
    stop();
    socket.pause();
    socket.unshift(held);
    onKnown(protocol);
  };
  socket.on("data", onData).on("end", drop).on("close", stop);
}
