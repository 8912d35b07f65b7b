import { execFile } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request as requestHttps } from "node:https";
import { connect as connectTls, type SecureVersion, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Server } from "../serve.ts";
import { makeCertificate, writeCertificate } from "../testing/certificate.ts";
import { callHttp2, usePorts } from "../testing/port.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

/** The result of openssl as a client: the cipher, or the refusal. */
function shakeHands(port: number, options: string): Promise<string> {
  return new Promise((resolve) => {
    const argv = ["s_client", "-connect", `127.0.0.1:${port}`, ...options.split(" ")];
    const client = execFile("openssl", argv, (_error, stdout, stderr) => {
      const cipher = /Cipher is (\S+)/.exec(stdout)?.[1];
      resolve(cipher === undefined || cipher === "(NONE)" ? `refused: ${stderr}` : cipher);
    });
    client.stdin!.end();
  });
}

const STRONG = { ec: "ECDHE-ECDSA", rsa: "ECDHE-RSA" };

describe.each(["ec", "rsa"] as const)("B6 the handshake with a key of kind %s", (kind) => {
  const { open } = usePorts();
  const tls = makeCertificate({ kind });

  it.each([
    "-tls1_1 -cipher ALL:@SECLEVEL=0",
    // The key is encrypted with the certificate's own.
    "-tls1_2 -cipher AES128-GCM-SHA256",
    "-tls1_2 -cipher AES256-SHA",
    "-tls1_2 -cipher kRSA",
    // Encrypted first and checked afterwards.
    `-tls1_2 -cipher ${STRONG[kind]}-AES128-SHA256`,
    `-tls1_2 -cipher ${STRONG[kind]}-AES256-SHA`,
    "-tls1_2 -cipher kDHE",
  ])("B6 is refused with %s", async (options) => {
    const { port } = await open({ tls });
    expect(await shakeHands(port, options)).toMatch(
      /refused: .*alert (?:handshake failure|protocol version)/s,
    );
  });

  it.each([
    [`-tls1_2 -cipher ${STRONG[kind]}-AES128-GCM-SHA256`, `${STRONG[kind]}-AES128-GCM-SHA256`],
    [`-tls1_2 -cipher ${STRONG[kind]}-CHACHA20-POLY1305`, `${STRONG[kind]}-CHACHA20-POLY1305`],
    ["-tls1_2", `${STRONG[kind]}-AES128-GCM-SHA256`],
    ["-tls1_3", "TLS_AES_128_GCM_SHA256"],
  ])("B6 is done with %s", async (options, cipher) => {
    const { port } = await open({ tls });
    expect(await shakeHands(port, options)).toBe(cipher);
  });
});

describe("B6 a TLS session", () => {
  const { open } = usePorts();
  const tls = makeCertificate();

  async function connect(port: number, maxVersion: SecureVersion, session?: Buffer): Promise<TLSSocket> {
    const socket = connectTls({ port, ca: tls.cert, servername: "localhost", maxVersion, session });
    onTestFinished(() => void socket.destroy());
    await once(socket, "secureConnect");
    return socket;
  }

  it("B6 is resumed, but not once its ticket's keys are replaced", async () => {
    const { port } = await open({ tls });
    const first = await connect(port, "TLSv1.2");
    expect((await connect(port, "TLSv1.2", first.getSession())).isSessionReused()).toBe(true);
    const brief = await open({ tls, limits: { ticketKeysMs: 20 } });
    const session = (await connect(brief.port, "TLSv1.2")).getSession();
    await expect
      .poll(async () => (await connect(brief.port, "TLSv1.2", session)).isSessionReused())
      .toBe(false);
  });
});

const HSTS = "strict-transport-security";
const JSON_TYPE = { "content-type": "application/json" };

/** One for every source of answers: routes, pages, the guard, the wires and their errors. */
const ASKS: [name: string, headers: Record<string, string>, body?: Buffer][] = [
  ["a route", { ":path": "/healthz" }],
  ["a page", { ":path": "/", accept: "text/html" }],
  ["unknown route", { ":path": "/nothing" }],
  ["a route without a right", { ":path": "/metrics" }],
  ["another host", { ":path": "/healthz", ":authority": "evil.example" }],
  [
    "JSON",
    { ":path": "/cairn.v1.SystemService/GetInfo", ":method": "POST", ...JSON_TYPE },
    Buffer.from("{}"),
  ],
  [
    "a wrong content type",
    { ":path": "/cairn.v1.SystemService/GetInfo", ":method": "POST", "content-type": "text/plain" },
    Buffer.from("{}"),
  ],
  [
    "the fast way",
    { ":path": "/cairn.v1.RunService/SearchRuns", ":method": "POST", "content-type": "application/proto" },
    Buffer.alloc(0),
  ],
  [
    "the fast way of gRPC",
    { ":path": "/cairn.v1.RunService/SearchRuns", ":method": "POST", "content-type": "application/grpc" },
    Buffer.alloc(5),
  ],
  ["no artifact", { ":path": "/artifacts/00000000000000000000000000/a" }],
];

describe("B7 strict transport security", () => {
  const folder = makeFolder();
  const { cert, argv } = writeCertificate(folder);
  const TRUST = { ca: cert, servername: "localhost" };
  const servers = new Map<string, Server>();

  beforeAll(async () => {
    servers.set("with TLS", await startServer(argv));
    servers.set("with TLS and --auth", await startServer([...argv, "--auth"]));
    servers.set("behind a proxy with TLS", await startServer(["--public-url", "https://cairn.example.org"]));
    servers.set("in clear", await startServer());
    servers.set("in clear under a name", await startServer(["--public-url", "http://cairn.example.org"]));
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.close();
    rmSync(folder, { recursive: true });
  });

  async function overHttp2(server: Server, headers: Record<string, string>, body?: Buffer): Promise<unknown> {
    const session = connectHttp2(server.listening.url, TRUST);
    onTestFinished(() => session.destroy());
    return (await callHttp2(session, headers, body)).headers[HSTS];
  }

  async function overHttp1(server: Server, headers: Record<string, string>, body?: Buffer): Promise<unknown> {
    const { ":path": path, ":method": method = "GET", ":authority": host = "localhost", ...rest } = headers;
    const request = requestHttps(`${server.listening.url}${path}`, {
      ...TRUST,
      agent: false,
      method,
      headers: { ...rest, host },
    });
    request.end(body);
    const [answer] = await once(request, "response");
    answer.resume();
    return answer.headers[HSTS];
  }

  it.each(ASKS)("B7 is in the answer to %s", async (_name, headers, body) => {
    for (const name of ["with TLS", "with TLS and --auth"]) {
      expect(await overHttp2(servers.get(name)!, headers, body), name).toBe("max-age=31536000");
      expect(await overHttp1(servers.get(name)!, headers, body), name).toBe("max-age=31536000");
    }
    const proxied = servers.get("behind a proxy with TLS")!;
    expect(await overHttp2(proxied, headers, body)).toBe("max-age=31536000");
  });

  it.each(ASKS)("B7 is not in the answer to %s of a server in clear", async (_name, headers, body) => {
    for (const name of ["in clear", "in clear under a name"]) {
      const claimed = { ...headers, "x-forwarded-proto": "https" };
      expect(await overHttp2(servers.get(name)!, claimed, body), name).toBeUndefined();
    }
  });
});
