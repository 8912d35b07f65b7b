import type { Ask } from "./asks.ts";
import type { Random } from "./random.ts";

const UPGRADES = [
  [
    ["connection", "upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="],
  ],
  [
    ["connection", "Upgrade, HTTP2-Settings"],
    ["upgrade", "h2c"],
    ["http2-settings", "AAMAAABkAAQCAAAAAAIAAAAA"],
  ],
] as const;

/** The requests one after another, as one write would send them. */
export function writeHttp1(asks: readonly Ask[], random: Random): Buffer {
  return Buffer.concat(asks.map((ask) => writeAsk(ask, random)));
}

function writeAsk({ method, path, headers, body, extras }: Ask, random: Random): Buffer {
  const lines: (readonly [string, string])[] = [["host", "localhost"], ...headers];
  const parts: Buffer[] = [];
  if (extras.includes("connection close")) lines.push(["connection", "close"]);
  if (extras.includes("upgrade")) lines.push(...random.pick(UPGRADES));
  if (extras.includes("chunked")) {
    lines.push(["transfer-encoding", "chunked"]);
    parts.push(...writeChunks(body, extras.includes("open end"), random));
  } else if (body.length > 0 || random.chance(0.3)) {
    lines.push(["content-length", String(declaredLength(body.length, extras, random))]);
    parts.push(body);
  }
  if (extras.includes("garbage after")) parts.push(random.bytes(random.between(1, 40)));
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  // What comes after it, if anything, is read as part of this head.
  const end = extras.includes("open end") && parts.length === 0 ? "" : "\r\n";
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}${end}`, "latin1"), ...parts]);
}

export function declaredLength(length: number, extras: Ask["extras"], random: Random): number {
  if (extras.includes("length too long")) return length + random.pick([1, 100, 1 << 20, 1 << 30]);
  if (extras.includes("length too short")) return Math.max(0, length - random.between(1, 50));
  return length;
}

function writeChunks(body: Buffer, isOpen: boolean, random: Random): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const chunk = body.subarray(at, at + random.between(1, Math.max(1, body.length)));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    at += chunk.length;
  }
  if (!isOpen) parts.push(Buffer.from("0\r\n\r\n"));
  return parts;
}
