import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { isIPv4 } from "node:net";
import { endianness } from "node:os";
import type { Connection } from "#wire/kit/sender.ts";

/**
 * Whose process is at the other end of a connection within this machine.
 *
 * Linux lists every TCP socket in /proc/net/tcp and tcp6 with the user who opened it. The peer's socket is the
 * entry whose local end is our remote one, and vice versa:
 *
 *     sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *     12: 0100007F:A353 0100007F:125C 01 00000000:00000000 00:00000000 00000000  1000        0 48213 …
 *
 * An address is printed as 32-bit words of this machine, so that 127.0.0.1 is 0100007F where the lowest byte comes
 * first. A program may reach an IPv4 address through an IPv6 socket, which is then in tcp6 as ::ffff:127.0.0.1.
 *
 * Data of a peer is read also after it has reset the connection, and by then another process may call from the same
 * port: then the entry belongs to that process. So an entry counts only when our end is still connected after it was
 * read. As
 * long as it is, the kernel gives packets from that port to our end, and no other process can be connected from it.
 */
const TABLES = { v4: "/proc/net/tcp", v6: "/proc/net/tcp6" } as const;

/** Established, or half closed by a client that has sent all and waits for the answer. */
const LIVE_STATES: ReadonlySet<string> = new Set(["01", "04", "05"]);

const NEWLINE = 10;
/** Reading does not wait, so that one buffer serves all. The kernel hands out whole lines, a page at a time. */
const buffer = Buffer.allocUnsafeSlow(64 << 10);

/**
 * Whether the table is usable: on Linux, and unless this process has the overflow id, which means any user of another
 * user namespace.
 */
export function canSeePeers(): boolean {
  if (process.platform !== "linux") return false;
  try {
    closeSync(openSync(TABLES.v4, "r"));
    return ownUid() !== readNumber("/proc/sys/kernel/overflowuid") || mapsEveryUser();
  } catch {
    return false;
  }
}

/** True for a process of this server's own user; false if unknown. Checked once per connection. */
export class OwnPeers {
  readonly #known = new WeakMap<Connection, boolean>();

  has(connection: Connection | undefined): boolean {
    if (connection === undefined) return false;
    let own = this.#known.get(connection);
    if (own === undefined) {
      own = peerUid(connection) === ownUid();
      this.#known.set(connection, own);
    }
    return own;
  }
}

/** undefined when the peer is not in the tables, because it is on another machine, or gone. */
export function peerUid(connection: Connection): number | undefined {
  const uid = uidAtOtherEnd(connection);
  // Not before the table is read: the port could change hands in between.
  return isConnected(connection) ? uid : undefined;
}

/**
 * Asks the system: the ends that a socket names are those of when it was accepted. TLS sockets and those of HTTP/2
 * sessions ask the one below. Without a handle, or one that can say, it counts as gone.
 */
function isConnected(connection: Connection): boolean {
  const { _handle: handle } = connection as { _handle?: { getpeername?(into: object): number } | null };
  return handle?.getpeername?.({}) === 0;
}

function uidAtOtherEnd(connection: Connection): number | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  if (remotePort === undefined || localPort === undefined) return undefined;
  const [remote, local] = [bytesOf(remoteAddress), bytesOf(localAddress)];
  if (remote === undefined || local === undefined || remote.length !== local.length) return undefined;
  const ends = (peer: Buffer, own: Buffer) =>
    `${wordsOf(peer)}:${portOf(remotePort)} ${wordsOf(own)}:${portOf(localPort)}`;
  if (remote.length === 16) return findPeer(TABLES.v6, ends(remote, local))?.uid;
  const peer =
    findPeer(TABLES.v4, ends(remote, local)) ?? findPeer(TABLES.v6, ends(mapped(remote), mapped(local)));
  return peer?.uid;
}

interface Peer {
  /** undefined when its process has closed the socket. */
  uid: number | undefined;
}

/**
 * Looks for the entry with these two ends, local first; there is at most one. The file is searched as bytes: it may
 * have thousands of lines.
 */
export function findPeer(table: string, ends: string): Peer | undefined {
  let file: number;
  try {
    file = openSync(table, "r");
  } catch {
    return undefined;
  }
  try {
    let held = 0;
    for (;;) {
      const read = readSync(file, buffer, held, buffer.length - held, null);
      if (read === 0) return undefined;
      const end = held + read;
      const whole = buffer.lastIndexOf(NEWLINE, end - 1) + 1;
      const peer = searchLines(buffer.subarray(0, whole), `: ${ends} `);
      if (peer !== undefined) return peer;
      buffer.copyWithin(0, whole, end);
      held = end - whole;
    }
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function searchLines(lines: Buffer, pattern: string): Peer | undefined {
  const at = lines.indexOf(pattern, 0, "latin1");
  if (at < 0) return undefined;
  const rest = lines.toString("latin1", at + pattern.length, lines.indexOf(NEWLINE, at));
  const [state = "", , , , uid = "", , inode = "0"] = rest.trim().split(/ +/);
  // A socket that its process has closed belongs to no user any more, and the kernel prints 0: that is not root.
  const isLive = LIVE_STATES.has(state) && inode !== "0" && /^\d+$/.test(uid);
  return { uid: isLive ? Number(uid) : undefined };
}

/** Of loopback addresses, the only ones that are looked up. */
function bytesOf(address: string | undefined): Buffer | undefined {
  if (address === undefined) return undefined;
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  if (isIPv4(plain)) return Buffer.from(plain.split(".").map(Number));
  if (plain !== "::1") return undefined;
  const bytes = Buffer.alloc(16);
  bytes[15] = 1;
  return bytes;
}

function mapped(v4: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), v4]);
}

function wordsOf(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = endianness() === "LE" ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    text += word.toString(16).padStart(8, "0");
  }
  return text.toUpperCase();
}

function portOf(port: number): string {
  return port.toString(16).padStart(4, "0").toUpperCase();
}

/** The kernel stores the effective one with a socket. */
function ownUid(): number | undefined {
  return process.geteuid?.();
}

function readNumber(path: string): number {
  return Number(readFileSync(path, "utf8"));
}

function mapsEveryUser(): boolean {
  return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
}
