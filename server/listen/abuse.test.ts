import { once } from "node:events";
import { expect, test } from "vitest";
import {
  CANCEL,
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  parseFrames,
  PREFACE,
  requestFields,
  uint32,
} from "#server/testing/frames.ts";
import { callHttp2, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";

const { open, session } = usePorts();

const HEAD = "Host: localhost\r\n";

async function rawSession(port: number): Promise<RawClient> {
  const client = await RawClient.connect(port);
  await client.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  await client.until(({ received }) => parseFrames(received).length > 0);
  return client;
}

function goawayOf(client: RawClient): number | undefined {
  const goaway = parseFrames(client.received).findLast((one) => one.type === FRAME.goaway);
  return goaway?.payload.readUInt32BE(4);
}

test("S19: too slow headers are cut off", async () => {
  const { url, port } = await open({ limits: { headersMs: 60 } });
  const client = await RawClient.connect(port);
  await client.send(`GET / HTTP/1.1\r\n${HEAD}X-Slow: `);
  await client.closed();
  expect(client.text).toMatch(/^HTTP\/1\.1 408 /);
  expect((await fetch(url)).status).toBe(200);
});

test("S19: a stalled body is cut off, over both protocols", async () => {
  const { url, port } = await open({ limits: { exchangeIdleMs: 60 } });
  const client = await RawClient.connect(port);
  await client.send(`POST / HTTP/1.1\r\n${HEAD}Content-Length: 10\r\n\r\nabc`);
  const stream = session(url).request({ ":path": "/", ":method": "POST" });
  stream.on("error", () => {});
  stream.write("abc");
  await Promise.all([client.closed(), once(stream, "close")]);
  expect(stream.rstCode).toBe(CANCEL);
});

test("S19: a client that does not read its answer is cut off, over both protocols", async () => {
  const { url, port } = await open({
    limits: { exchangeIdleMs: 60 },
    onRequest: (_request, response) => void response.end(Buffer.alloc(64 << 20)),
  });
  const client = await RawClient.connect(port);
  client.socket.pause();
  await client.send(`GET / HTTP/1.1\r\n${HEAD}\r\n`);
  const stream = session(url).request({ ":path": "/" });
  stream.on("error", () => {});
  await once(stream, "close");
  expect(stream.rstCode).toBe(CANCEL);
  client.socket.resume();
  await client.closed();
  expect(client.received.length).toBeLessThan(64 << 20);
});

test("a slow answer, and a stream whose client may be silent, are not cut off", async () => {
  const finish = Promise.withResolvers<void>();
  const { url, port } = await open({
    limits: { exchangeIdleMs: 40 },
    isClientStream: (path) => path === "/stream",
    async onRequest(_request, response) {
      await finish.promise;
      response.end("done");
    },
  });
  const client = await RawClient.connect(port);
  await client.send(`GET / HTTP/1.1\r\n${HEAD}\r\n`);
  const http2 = session(url);
  const quiet = http2.request({ ":path": "/stream", ":method": "POST" });
  const patient = callHttp2(http2, {});
  // A stream with an incomplete body is cut off later than any of the others could be.
  for (let round = 0; round < 3; round += 1) {
    const silent = session(url).request({ ":path": "/", ":method": "POST" });
    silent.on("error", () => {});
    await once(silent, "close");
  }
  expect(quiet.closed).toBe(false);
  finish.resolve();
  expect((await patient).body).toBe("done");
  await client.until(({ text }) => text.includes("done"));
  client.socket.destroy();
});

test("S19: idle connections are closed, those of HTTP/2 with GOAWAY", async () => {
  const { url, port } = await open({ limits: { keepAliveMs: 10, sessionIdleMs: 60 } });
  const client = await RawClient.connect(port);
  await client.send(`GET / HTTP/1.1\r\n${HEAD}\r\n`);
  await client.until(({ text }) => text.includes("GET /"));
  const http2 = session(url);
  const [code] = (await once(http2, "goaway")) as [number];
  expect(code).toBe(0);
  await client.closed();
});

test("S19: connections are limited for one address and in total", async () => {
  for (const limits of [{ connectionsPerAddressMax: 3 }, { connectionsMax: 3 }]) {
    const listening = await open({ limits });
    const kept = await Promise.all([1, 2, 3].map(() => RawClient.connect(listening.port)));
    await expect.poll(() => listening.counts().open).toBe(3);
    const fourth = await RawClient.connect(listening.port);
    await fourth.closed();
    expect(listening.counts()).toEqual({ open: 3, accepted: 3, refused: 1 });
    kept[0]!.socket.destroy();
    await expect.poll(() => listening.counts().open).toBe(2);
    expect((await fetch(listening.url)).status).toBe(200);
    for (const client of kept) client.socket.destroy();
  }
});

test("S6: 500 rapid resets end in GOAWAY while another client is served", async () => {
  let handled = 0;
  const { url, port } = await open({
    onRequest(_request, response) {
      handled += 1;
      response.end("ok");
    },
  });
  const healthy = session(url);
  await callHttp2(healthy, {});
  const attacker = await rawSession(port);
  const fields = requestFields("GET", "/attack");
  const pairs = Array.from({ length: 500 }, (_, index) => {
    const id = 2 * index + 1;
    return Buffer.concat([
      frame(FRAME.headers, END_HEADERS | END_STREAM, id, fields),
      frame(FRAME.rstStream, 0, id, uint32(CANCEL)),
    ]);
  });
  for (let at = 0; at < pairs.length; at += 50) {
    await attacker.send(Buffer.concat(pairs.slice(at, at + 50)));
    expect((await callHttp2(healthy, {})).body).toBe("ok");
  }
  await attacker.closed();
  expect(goawayOf(attacker)).toBeDefined();
  expect(handled).toBeLessThan(400);
  expect((await callHttp2(healthy, {})).body).toBe("ok");
});

test("S6: pings with unread answers close the connection", async () => {
  const listening = await open();
  const attacker = await rawSession(listening.port);
  attacker.socket.pause();
  const pings = Buffer.concat(Array.from({ length: 2_000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))));
  await expect
    .poll(
      () => {
        if (attacker.socket.writableLength === 0) attacker.socket.write(pings);
        return listening.counts().open;
      },
      { interval: 1, timeout: 10_000 },
    )
    .toBe(0);
  expect((await callHttp2(session(listening.url), {})).body).toBe("2.0 GET / ");
  attacker.socket.destroy();
});

test("S6: header lists that are too long or too many are refused", async () => {
  const { url } = await open();
  const client = session(url);
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, "1"]));
  const long = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`x-${index}`, "b".repeat(4_000)]),
  );
  for (const headers of [many, long]) {
    await expect(callHttp2(client, headers)).rejects.toThrow();
    const http1 = await fetch(url, { headers }).then(
      (response) => response.status,
      () => 431,
    );
    expect(headers === long ? http1 : 431).toBe(431);
  }
  expect((await fetch(url)).status).toBe(200);
});

test("S6: streams above the limit wait or are refused", async () => {
  const finish = Promise.withResolvers<void>();
  let running = 0;
  let peak = 0;
  const { url, port } = await open({
    limits: { streamsPerConnectionMax: 8 },
    async onRequest(_request, response) {
      peak = Math.max(peak, (running += 1));
      await finish.promise;
      running -= 1;
      response.end("ok");
    },
  });
  const client = session(url);
  await once(client, "remoteSettings");
  const answers = Array.from({ length: 20 }, () => callHttp2(client, {}));
  await expect.poll(() => peak).toBe(8);
  finish.resolve();
  await Promise.all(answers);
  expect(peak).toBe(8);

  const attacker = await rawSession(port);
  const fields = requestFields("GET", "/");
  const headers = Array.from({ length: 9 }, (_, index) => {
    return frame(FRAME.headers, END_HEADERS, 2 * index + 1, fields);
  });
  await attacker.send(Buffer.concat(headers));
  const refused = ({ received }: RawClient): boolean =>
    parseFrames(received).some((one) => one.type === FRAME.rstStream && one.stream === 17);
  await attacker.until(refused);
  attacker.socket.destroy();
});
