import { once } from "node:events";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import type { ClientHttp2Stream } from "node:http2";
import { connect } from "node:tls";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "#server/testing/certificate.ts";
import { CANCEL, END_STREAM, FRAME, frame, PREFACE, requestFields } from "#server/testing/frames.ts";
import { callHttp2, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";

const { open, session } = usePorts();

/** Short enough for a test. One byte every few milliseconds is far too slow, one piece in seconds is enough. */
const LIMITS = { slowBodyMs: 400, bodyBytesPerSecondMin: 1_000 };
const HEAD = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";

/** Sends one byte every few milliseconds until it is stopped. */
function dribble(send: () => void): void {
  const timer = setInterval(send, 5);
  onTestFinished(() => clearInterval(timer));
}

function silent(stream: ClientHttp2Stream): ClientHttp2Stream {
  return stream.on("error", () => {});
}

test("K10, S19: a body that arrives one byte at a time is cut off over HTTP/1, with and without TLS", async () => {
  const plain = await open({ limits: LIMITS });
  const client = await RawClient.connect(plain.port);
  await client.send(HEAD);
  dribble(() => client.socket.write("a"));
  const tls = await open({ limits: LIMITS, tls: makeCertificate() });
  const secure = connect({ port: tls.port, host: "127.0.0.1", rejectUnauthorized: false });
  secure.on("error", () => {});
  await once(secure, "secureConnect");
  secure.write(HEAD);
  dribble(() => secure.write("a"));
  await Promise.all([client.closed(), new Promise((resolve) => secure.on("close", resolve))]);
  expect((await fetch(plain.url)).status).toBe(200);
});

test("K10, S19: a body that arrives one byte at a time is cut off over HTTP/2, and only its stream", async () => {
  const { url } = await open({ limits: LIMITS });
  const client = session(url);
  const slow = silent(client.request({ ":path": "/", ":method": "POST" }));
  dribble(() => void (slow.closed || slow.write("a")));
  await once(slow, "close");
  expect(slow.rstCode).toBe(CANCEL);
  expect((await callHttp2(client, {})).body).toBe("2.0 GET / ");
});

test("K10: a body that arrives steadily may take any time, with and without TLS", async () => {
  const { promise: read, resolve: readOn } = Promise.withResolvers<void>();
  const onRequest = async (incoming: AsyncIterable<Uint8Array>, response: { end(text: string): void }) => {
    let bytes = 0;
    for await (const chunk of incoming) {
      bytes += chunk.length;
      // A client is not cut off while the server does not read.
      await read;
    }
    response.end(String(bytes));
  };
  const plain = await open({ limits: LIMITS, onRequest });
  const tls = await open({ limits: LIMITS, onRequest, tls: makeCertificate() });
  const piece = Buffer.alloc(4_000);
  const outgoing = [
    request(plain.url, { method: "POST" }),
    requestTls(tls.url, { method: "POST", rejectUnauthorized: false }),
    silent(session(plain.url).request({ ":path": "/", ":method": "POST" })),
    silent(session(tls.url, { rejectUnauthorized: false }).request({ ":path": "/", ":method": "POST" })),
  ];
  const answers = outgoing.map(async (out) => {
    const [head] = (await once(out, "response")) as [AsyncIterable<Uint8Array>];
    return Number(await text("httpVersion" in head ? head : (out as ClientHttp2Stream)));
  });
  let pieces = 0;
  dribble(() => {
    // Longer than a slow one has, both before and after the server reads on.
    if (++pieces === 240) for (const out of outgoing) out.end();
    else if (pieces < 240) for (const out of outgoing) out.write(piece);
    if (pieces === 120) readOn();
  });
  expect(await Promise.all(answers)).toEqual([956_000, 956_000, 956_000, 956_000]);
});

test("K10, S19: HTTP/2 headers that arrive one byte at a time end in GOAWAY", async () => {
  const { port, url } = await open({ limits: { firstStreamMs: 150 } });
  const client = await RawClient.connect(port);
  await client.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  const headers = frame(FRAME.headers, END_STREAM, 1, requestFields("GET", `/${"a".repeat(100)}`));
  let sent = 0;
  dribble(() => void (sent < headers.length - 1 && client.socket.write(headers.subarray(sent, ++sent))));
  await client.closed();
  expect(sent).toBeLessThan(headers.length);
  // One that has had a stream may be idle for longer.
  const other = session(url);
  await callHttp2(other, {});
  const again = await RawClient.connect(port);
  await again.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  await again.closed();
  expect((await callHttp2(other, {})).body).toBe("2.0 GET / ");
});
