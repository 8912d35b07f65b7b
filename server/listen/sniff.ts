import type { Socket } from "node:net";

/**
 * Tells HTTP/2 from everything else on one cleartext port. An HTTP/2 client speaks first and always says
 * the same 24 bytes; the first byte that differs means HTTP/1, or rubbish, which the HTTP/1 parser
 * refuses with a proper 400. A client may send one byte at a time, so what came is held until it is plain.
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
 * Reads from the socket until its protocol is known, puts back what it read and hands the socket over
 * without a trace of its own listeners. A socket that has not made up its mind in time, or closes
 * before, is destroyed and never handed over.
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
