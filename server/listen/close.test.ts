import { once } from "node:events";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { makeCertificate } from "#server/testing/certificate.ts";
import { FRAME, frame, parseFrames, PREFACE } from "#server/testing/frames.ts";
import { callHttp2, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";
import type { HttpResponse } from "#wire/kit/http.ts";

const { open, session } = usePorts();

/** Far more than any of these should need, also on a busy machine; a test that waits for it fails. */
const LONG_MS = 50_000;
const QUICK_MS = 40_000;

/** A handler whose answers wait until the test gives them. */
function held(): {
  onRequest: (request: unknown, response: HttpResponse) => void;
  next(): Promise<HttpResponse>;
} {
  const waiting: HttpResponse[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    onRequest(_request, response) {
      waiting.push(response);
      arrived.resolve();
    },
    async next() {
      while (waiting.length === 0) {
        arrived = Promise.withResolvers<void>();
        await arrived.promise;
      }
      return waiting.shift()!;
    },
  };
}

async function elapsed(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

test("close is quick when every connection is idle", async () => {
  const listening = await open();
  const kept = await RawClient.connect(listening.port);
  await kept.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await kept.until(({ text: got }) => got.includes("/a"));
  await RawClient.connect(listening.port);
  const client = session(listening.url);
  await callHttp2(client, {});
  expect(await elapsed(listening.close(LONG_MS))).toBeLessThan(QUICK_MS);
  expect(listening.counts().open).toBe(0);
  await kept.closed();
});

test("close is quick over TLS too, also with a handshake begun", async () => {
  const tls = makeCertificate();
  const listening = await open({ tls });
  const client = session(listening.url, { ca: tls.cert, servername: "localhost" });
  await callHttp2(client, {});
  const silent = await RawClient.connect(listening.port);
  expect(await elapsed(listening.close(LONG_MS))).toBeLessThan(QUICK_MS);
  await silent.closed();
});

test("close lets an HTTP/1 request in flight finish and announces that it was the last", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = await RawClient.connect(listening.port);
  await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const response = await next();
  const closed = listening.close(LONG_MS);
  await expect(fetch(listening.url)).rejects.toThrow();
  response.end("late but complete");
  await client.closed();
  expect(client.text).toContain("late but complete");
  expect(client.text.toLowerCase()).toContain("connection: close");
  expect(await elapsed(closed)).toBeLessThan(QUICK_MS);
});

test("close lets an HTTP/1 answer that has begun come to its end", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = await RawClient.connect(listening.port);
  await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const response = await next();
  const body: Writable = response;
  body.write("begin-");
  await client.until(({ text: got }) => got.includes("begin-"));
  const start = performance.now();
  const closed = listening.close(LONG_MS);
  const rest = "x".repeat(4 << 20);
  response.end(`${rest}-end`);
  await client.closed();
  expect(client.text.endsWith("-end\r\n0\r\n\r\n")).toBe(true);
  await closed;
  expect(performance.now() - start).toBeLessThan(QUICK_MS);
});

test("a request after an answer has begun is the last one", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = await RawClient.connect(listening.port);
  const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  await client.send(request + request);
  const first: Writable = await next();
  first.write("first");
  await client.until(({ text: got }) => got.includes("first"));
  const closed = listening.close(LONG_MS);
  first.end();
  (await next()).end("second");
  await client.closed();
  const [, second] = client.text.split("first");
  expect(second).toContain("second");
  expect(second?.toLowerCase()).toContain("connection: close");
  await closed;
});

test("close sends GOAWAY and lets HTTP/2 streams in flight finish", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = session(listening.url);
  const stream = client.request({ ":path": "/" });
  const response = await next();
  const goaway = once(client, "goaway");
  const closed = listening.close(LONG_MS);
  const [code] = (await goaway) as [number];
  expect(code).toBe(0);
  response.end("late but complete");
  expect(await text(stream)).toBe("late but complete");
  expect(await elapsed(closed)).toBeLessThan(QUICK_MS);
});

test("close cuts off requests that are not done by the deadline", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = await RawClient.connect(listening.port);
  await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const stream = session(listening.url).request({ ":path": "/" });
  stream.on("error", () => {});
  await next();
  await next();
  expect(await elapsed(listening.close(50))).toBeLessThan(QUICK_MS);
  await client.closed();
});

test("a second close brings the deadline forward", async () => {
  const { onRequest, next } = held();
  const listening = await open({ onRequest });
  const client = await RawClient.connect(listening.port);
  await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await next();
  const first = listening.close(LONG_MS);
  await listening.close(0);
  expect(await elapsed(first)).toBeLessThan(QUICK_MS);
});

test("a peer that never closes its half does not delay the close", async () => {
  const listening = await open();
  const client = await RawClient.connect(listening.port, { allowHalfOpen: true });
  await client.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  await client.until(({ received }) => parseFrames(received).length > 0);
  expect(await elapsed(listening.close(LONG_MS))).toBeLessThan(QUICK_MS);
  expect(parseFrames(client.received).at(-1)?.type).toBe(FRAME.goaway);
  client.socket.destroy();
});
