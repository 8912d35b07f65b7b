import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { canSeePeers, findPeer, OwnPeers, peerUid } from "./peer-uid.ts";
import { OTHER_UID, proxyAs } from "../testing/other-user.ts";
import { makeFolder } from "../testing/servers.ts";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

function line(ends: string, { state = "01", uid = 1000, inode = 48_213 } = {}): string {
  const rest = `00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 ${inode} 1 0000000079c152a9 20 4 30 10 -1`;
  return `  12: ${ends} ${state} ${rest}`;
}

function table(lines: readonly string[]): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "tcp");
  writeFileSync(path, `${[HEAD, ...lines].join("\n")}\n`);
  return path;
}

const PEER = "0100007F:A353 0100007F:125C";
const OURS = "0100007F:125C 0100007F:A353";

describe("sample tables", () => {
  it("A29 the entry whose local end is the peer's names its user", () => {
    const path = table([line(OURS, { uid: 7 }), line(PEER), line("0100007F:A353 0100007F:125D", { uid: 8 })]);
    expect(findPeer(path, PEER)).toEqual({ uid: 1000 });
    expect(findPeer(path, OURS)).toEqual({ uid: 7 });
    expect(findPeer(path, "0100007F:A354 0100007F:125C")).toBeUndefined();
  });

  it.each([
    ["half closed, waiting for the answer", { state: "05" }, 1000],
    ["closed by its process: uid 0 is not root's", { state: "05", uid: 0, inode: 0 }, undefined],
    ["closed in the middle of sending", { state: "04", uid: 0, inode: 0 }, undefined],
    ["over", { state: "06", uid: 0, inode: 0 }, undefined],
    ["not yet connected", { state: "02" }, undefined],
    ["waiting for connections", { state: "0A" }, undefined],
    ["user 4294967294", { uid: 4_294_967_294 }, 4_294_967_294],
  ])("A29 a socket that is %s", (_, facts, uid) => {
    expect(findPeer(table([line(PEER, facts)]), PEER)).toEqual({ uid });
  });

  it("A29 an entry is found anywhere in a large table, also across reads", () => {
    const others = Array.from({ length: 4_000 }, (_, i) =>
      line(`0100007F:${(i + 4096).toString(16).toUpperCase()} 0100007F:0050`, { uid: i }),
    );
    for (const place of [0, 437, 438, 439, 3_999]) {
      expect(findPeer(table(others.toSpliced(place, 0, line(PEER))), PEER), String(place)).toEqual({
        uid: 1000,
      });
    }
    expect(findPeer(table(others), PEER)).toBeUndefined();
  });

  it("A29 an unreadable or truncated entry identifies no user", () => {
    expect(findPeer("/nonexistent/tcp", PEER)).toBeUndefined();
    expect(findPeer("/", PEER)).toBeUndefined();
    expect(findPeer(table([`  12: ${PEER}`]), PEER)).toBeUndefined();
    expect(findPeer(table([`  12: ${PEER} 01 0:0`]), PEER)).toEqual({ uid: undefined });
  });
});

describe("real sockets", () => {
  async function listen(host: string): Promise<Server> {
    const server = createServer().listen(0, host);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return server;
  }

  /** Both ends of a connection. */
  async function join2(server: Server, host: string): Promise<{ near: Socket; far: Socket }> {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const far = connect((server.address() as AddressInfo).port, host);
    far.on("error", () => undefined);
    const [near] = await accepted;
    onTestFinished(() => void (near.destroy(), far.destroy()));
    return { near, far };
  }

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "::ffff:127.0.0.1"],
    ["::1", "::1"],
    ["::", "127.0.0.1"],
    ["::", "::1"],
  ])("A29 own sockets are found: bound to %s, called at %s", async (bound, called) => {
    expect(canSeePeers()).toBe(true);
    const { near } = await join2(await listen(bound), called);
    expect(peerUid(near)).toBe(process.getuid!());
    expect(new OwnPeers().has(near)).toBe(true);
  });

  it("A29 a peer that has disconnected is not the owner, and earlier results stay", async () => {
    const server = await listen("127.0.0.1");
    const { near, far } = await join2(server, "127.0.0.1");
    const { remoteAddress, remotePort, localAddress, localPort } = near;
    // As if our end were still there: the table alone has to say so.
    const handle = { getpeername: () => 0 };
    const ends = { remoteAddress, remotePort, localAddress, localPort, _handle: handle };
    const peers = new OwnPeers();
    expect(peers.has(near)).toBe(true);
    far.destroy();
    near.resume();
    await once(near, "close");
    expect(peerUid(ends)).toBeUndefined();
    expect(peers.has(near)).toBe(true);
    expect(new OwnPeers().has(near)).toBe(false);
    expect(new OwnPeers().has(undefined)).toBe(false);
  });

  it("A29 a process of another user is not the server's own", async () => {
    const server = await listen("127.0.0.1");
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const port = await proxyAs(OTHER_UID, (server.address() as AddressInfo).port);
    const far = connect(port, "127.0.0.1");
    onTestFinished(() => void far.destroy());
    const [near] = await accepted;
    expect(peerUid(near)).toBe(OTHER_UID);
    expect(new OwnPeers().has(near)).toBe(false);
    near.destroy();
  });
});
