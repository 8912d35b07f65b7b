import { once } from "node:events";
import { request as requestHttp1 } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { makeCertificate } from "#server/testing/certificate.ts";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  parseFrames,
  PREFACE,
  requestFields,
} from "#server/testing/frames.ts";
import { callHttp2, silentLog, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";

const { open, session } = usePorts();

test("HTTP/1 and HTTP/2 share the port", async () => {
  const { url, port } = await open();
  const http1 = await fetch(`${url}/one`, { method: "POST", body: "hello" });
  expect(await http1.text()).toBe("1.1 POST /one hello");
  const http2 = await callHttp2(session(url), { ":path": "/two", ":method": "POST" }, "world");
  expect(http2.body).toBe("2.0 POST /two world");
  expect(url).toBe(`http://127.0.0.1:${port}`);
});

test("an HTTP/2 preface that comes byte by byte is understood", async () => {
  const { port } = await open();
  const client = await RawClient.connect(port);
  const request = frame(FRAME.headers, END_HEADERS | END_STREAM, 1, requestFields("GET", "/slow"));
  await client.sendByteByByte(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), request]));
  await client.until(({ received }) =>
    parseFrames(received).some(
      (one) => one.type === FRAME.data && one.stream === 1 && one.payload.length > 0,
    ),
  );
  const data = parseFrames(client.received).find((one) => one.type === FRAME.data);
  expect(data?.payload.toString()).toBe("2.0 GET /slow ");
  client.socket.destroy();
});

test("an HTTP/1 request that comes byte by byte is understood, and the connection is kept", async () => {
  const { port } = await open();
  const client = await RawClient.connect(port);
  for (const path of ["/PRI", "/second"]) {
    const start = client.text.length;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc`;
    await client.sendByteByByte(Buffer.from(head));
    await client.until(() => client.text.slice(start).includes(`POST ${path} abc`));
  }
  client.socket.destroy();
});

test.each(["PROPFIND / HTTP/1.1", "PRI * HTTP/2.1", "PRI * HTTP/2.0\r\n\r\nXX"])(
  "%j begins like the preface but is HTTP/1",
  async (start) => {
    const { port } = await open();
    const client = await RawClient.connect(port);
    await client.sendByteByByte(Buffer.from(`${start}\r\nHost: localhost\r\n\r\n`));
    await client.until(() => client.text.startsWith("HTTP/1.1 "));
    client.socket.destroy();
  },
);

test.each([
  ["binary", Buffer.from([0, 1, 2, 3, 255, 254, 0, 0])],
  ["a TLS hello", Buffer.from("16030100a5010000a10303", "hex")],
  ["an SSH banner", Buffer.from("SSH-2.0-OpenSSH_9.9\r\n")],
])("%s as first bytes is refused and does not affect others", async (_name, bytes) => {
  const { url, port } = await open();
  const client = await RawClient.connect(port);
  await client.send(bytes);
  await client.closed();
  expect(client.text).toMatch(/^HTTP\/1\.1 400 /);
  expect((await fetch(url)).status).toBe(200);
});

test("a socket that sends nothing, or half a preface, is closed at the deadline", async () => {
  const listening = await open({ limits: { sniffMs: 50 } });
  const silent = await RawClient.connect(listening.port);
  const half = await RawClient.connect(listening.port);
  await half.send("PRI * HT");
  await Promise.all([silent.closed(), half.closed()]);
  await expect.poll(() => listening.counts().open).toBe(0);
});

test("the sniff deadline does not outlive the sniffing", async () => {
  const { port } = await open({ limits: { sniffMs: 50 } });
  const client = await RawClient.connect(port);
  await client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await client.until(({ text: got }) => got.includes("/a"));
  // The deadline of a later socket passes first, so that of the first has passed too.
  await (await RawClient.connect(port)).closed();
  await client.send("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await client.until(({ text: got }) => got.includes("/b"));
  client.socket.destroy();
});

test("a client that closes its half in the middle of the preface is dropped", async () => {
  const listening = await open();
  const client = await RawClient.connect(listening.port);
  client.socket.end("PRI * H");
  await client.closed();
});

test("the hook gets streams first and may decline them", async () => {
  const { url } = await open({
    onStream(stream, headers) {
      if (headers[":path"] !== "/fast") return false;
      stream.respond({ ":status": 200 });
      stream.end("by hand");
      return true;
    },
  });
  const client = session(url);
  expect((await callHttp2(client, { ":path": "/fast" })).body).toBe("by hand");
  expect((await callHttp2(client, { ":path": "/other" })).body).toBe("2.0 GET /other ");
});

test("a hook that throws ends only its stream", async () => {
  const { url } = await open({
    onStream(_stream, headers) {
      if (headers[":path"] === "/bad") throw new Error("broken hook");
      return false;
    },
  });
  const client = session(url);
  await expect(callHttp2(client, { ":path": "/bad" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  expect((await callHttp2(client, { ":path": "/good" })).body).toBe("2.0 GET /good ");
});

test.each(["throws", "rejects"])(
  "a handler that %s is answered with an error without secrets",
  async (how) => {
    const seen: object[] = [];
    const { url } = await open({
      onRequest() {
        const error = new Error("secret of /etc/shadow");
        if (how === "throws") throw error;
        return Promise.reject(error);
      },
      log: { ...silentLog, error: (facts) => void seen.push(facts) },
    });
    for (const get of [
      async () => (await fetch(url)).json(),
      async () => JSON.parse((await callHttp2(session(url), {})).body) as unknown,
    ]) {
      const body = (await get()) as { code: string; message: string };
      expect(body.code).toBe("internal");
      expect(body.message).not.toContain("secret");
      expect(JSON.stringify(seen.at(-1))).toContain("secret");
    }
  },
);

test("TLS: ALPN chooses HTTP/2 or HTTP/1, and no ALPN means HTTP/1", async () => {
  const tls = makeCertificate();
  const { url, port } = await open({ tls });
  expect(url).toMatch(/^https:/);
  const trust = { ca: tls.cert, servername: "localhost" };
  expect((await callHttp2(session(url, trust), { ":path": "/h2" })).body).toBe("2.0 GET /h2 ");
  const [response] = await once(requestHttps(`${url}/h1`, { ca: tls.cert, agent: false }).end(), "response");
  expect(await text(response)).toBe("1.1 GET /h1 ");
  for (const [offered, got] of [
    [["http/1.1"], "http/1.1"],
    [["h2", "http/1.1"], "h2"],
  ] as const) {
    const socket = connectTls({ port, host: "127.0.0.1", ...trust, ALPNProtocols: [...offered] });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).toBe(got);
    socket.destroy();
  }
});

test("TLS: a missing or invalid handshake ends the connection", async () => {
  const listening = await open({ tls: makeCertificate(), limits: { sniffMs: 50 } });
  const silent = await RawClient.connect(listening.port);
  const plain = await RawClient.connect(listening.port);
  await plain.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await Promise.all([silent.closed(), plain.closed()]);
});

test("an invalid certificate is refused with a hint", async () => {
  const error: unknown = await open({ tls: { cert: "x", key: "y" } }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CairnError);
  expect((error as CairnError).hint).toContain("--tls-cert");
});

test("a port in use is named, with a hint", async () => {
  const { port } = await open();
  const error: unknown = await open({ port }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "precondition" });
  expect((error as CairnError).message).toContain(`port ${port} is in use`);
  expect((error as CairnError).hint).toContain("--port");
});

test("an address that is not of this machine is refused", async () => {
  await expect(open({ host: "192.0.2.1" })).rejects.toMatchObject({ code: "invalid" });
});

test("an IPv6 address is bracketed in the url", async () => {
  const { url } = await open({ host: "::1" });
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(url)).status).toBe(200);
});

test("a wildcard bind gives an address that can be opened", async () => {
  const { url, port } = await open({ host: "0.0.0.0" });
  expect(url).toBe(`http://localhost:${port}`);
});

test("an upgrade to h2c or WebSocket is ignored", async () => {
  const { port } = await open();
  const client = await RawClient.connect(port);
  const upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
  await client.send(`GET /up HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`);
  await client.until(({ text: got }) => got.includes("1.1 GET /up"));
  expect(client.text).toMatch(/^HTTP\/1\.1 200 /);
  client.socket.destroy();
});

test("a connection reset in the middle of a request does not affect the server", async () => {
  const { url, port } = await open();
  const socket = connectTcp(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");
  socket.resetAndDestroy();
  const client = session(url);
  const stream = client.request({ ":path": "/", ":method": "POST" });
  stream.on("error", () => {});
  stream.write("abc");
  stream.close(8);
  expect((await fetch(url)).status).toBe(200);
});

test("eight megabytes go up over both protocols", async () => {
  const { url } = await open({
    async onRequest(request, response) {
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      response.end(String(bytes));
    },
  });
  const body = Buffer.alloc(8 << 20, 7);
  const upload = requestHttp1(url, { method: "PUT" });
  upload.end(body);
  const [response] = await once(upload, "response");
  expect(await text(response)).toBe(String(body.length));
  expect((await callHttp2(session(url), { ":method": "PUT" }, body)).body).toBe(String(body.length));
});
