import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { Account } from "#core/quota/account.ts";
import { type BodyOptions, readBody } from "#wire/kit/body.ts";
import { ByteBudget } from "#wire/kit/byte-budget.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";
import { sendBytes, sendError } from "#wire/kit/respond.ts";
import { type Answer, callHttp2, serveBoth } from "#wire/kit/testing.ts";

const COMPRESS = {
  gzip: (bytes: Uint8Array) => gzipSync(bytes),
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes: Uint8Array) => zstdCompressSync(bytes),
  deflate: (bytes: Uint8Array) => deflateSync(bytes),
};
const ENCODINGS = Object.keys(COMPRESS) as (keyof typeof COMPRESS)[];

/** The options of the next requests; the answer is the body as it was read. */
let options: BodyOptions = {};
let arrays: number[] = [];

async function echo(incoming: HttpRequest, response: HttpResponse): Promise<void> {
  const before = process.memoryUsage().arrayBuffers;
  try {
    sendBytes(response, 200, "application/octet-stream", await readBody(incoming, options));
  } catch (error) {
    arrays.push(process.memoryUsage().arrayBuffers - before);
    sendError(incoming, response, error);
  }
}

const { http1, http2 } = await serveBoth((incoming, response) => void echo(incoming, response));

async function callHttp1(headers: Record<string, string>, pieces: readonly Uint8Array[]): Promise<Answer> {
  const call = request(http1, { method: "POST", headers, agent: false });
  for (const piece of pieces) call.write(piece);
  call.end();
  const [response] = await once(call, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

function errorOf(answer: Answer): { code: string; reason: string; message: string } {
  return JSON.parse(answer.body) as { code: string; reason: string; message: string };
}

test("a body is read as it was sent, with any chunks and compression", async () => {
  options = {};
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 6 }),
      fc.constantFrom("identity", ...ENCODINGS),
      async (pieces, encoding) => {
        const whole = Buffer.concat(pieces);
        const packed = encoding === "identity" ? whole : COMPRESS[encoding](whole);
        const cut = Math.floor(packed.length / 3);
        const sent = [packed.subarray(0, cut), packed.subarray(cut)].filter((piece) => piece.length > 0);
        const headers = { "content-encoding": encoding };
        const one = await callHttp1(headers, sent);
        expect(one).toMatchObject({ status: 200, body: whole.toString() });
        const two = await callHttp2(http2, "POST", "/", headers, packed);
        expect(two).toMatchObject({ status: 200, body: whole.toString() });
      },
    ),
    { numRuns: 60 },
  );
});

test.each(ENCODINGS)("S7: a %s bomb is cut off, with little memory", async (encoding) => {
  options = {};
  arrays = [];
  const bomb = COMPRESS[encoding](Buffer.alloc(100 << 20));
  for (const answer of [
    await callHttp1({ "content-encoding": encoding }, [bomb]),
    await callHttp2(http2, "POST", "/", { "content-encoding": encoding }, bomb),
  ]) {
    expect(answer.status).toBe(413);
    expect(errorOf(answer)).toMatchObject({ code: "exhausted", reason: "BODY_TOO_LARGE" });
  }
  expect(arrays.length).toBe(2);
  for (const grown of arrays) expect(grown).toBeLessThan(32 << 20);
});

test("S7: the cap on decompressed bytes holds where the ratio is fine", async () => {
  options = { decompressedBytesMax: 100_000 };
  const noise = Buffer.from(Array.from({ length: 120_000 }, (_, index) => (index * 7919) % 251));
  const answer = await callHttp1({ "content-encoding": "gzip" }, [gzipSync(noise)]);
  expect(errorOf(answer).message).toContain("over 100000 bytes when decompressed");
});

test("a small body may be compressed by any ratio", async () => {
  options = {};
  const answer = await callHttp1({ "content-encoding": "zstd" }, [zstdCompressSync(Buffer.alloc(1 << 20))]);
  expect(answer.status).toBe(200);
  expect(answer.body.length).toBe(1 << 20);
});

test("S7: zstd with a huge window is refused", async () => {
  options = {};
  const noise = randomBytes(12 << 20);
  const send = (windowLog: number): Promise<Answer> => {
    const packed = zstdCompressSync(noise, { params: { [constants.ZSTD_c_windowLog]: windowLog } });
    return callHttp1({ "content-encoding": "zstd" }, [packed]);
  };
  expect((await send(23)).status).toBe(200);
  expect(errorOf(await send(24)).reason).toBe("BODY_DAMAGED");
});

test("S7: too large a body is refused by its length, or as soon as the limit is reached", async () => {
  options = { maxBytes: 1000 };
  const body = Buffer.alloc(5000, 1);
  const declared = await callHttp1({ "content-length": "5000" }, [body]);
  const chunked = await callHttp1({}, [body, body]);
  const http2Answer = await callHttp2(http2, "POST", "/", {}, body);
  for (const answer of [declared, chunked, http2Answer]) {
    expect(answer.status).toBe(413);
    expect(errorOf(answer).reason).toBe("BODY_TOO_LARGE");
  }
  expect((await callHttp1({}, [body.subarray(0, 1000)])).status).toBe(200);
});

test("a client that sends all before it reads still gets the refusal", async () => {
  options = { maxBytes: 1 << 20 };
  const answer = await callHttp1({ "content-length": String(24 << 20) }, [Buffer.alloc(24 << 20)]);
  expect(answer.status).toBe(413);
});

test.each([...ENCODINGS])("%s that is damaged or cut short is refused", async (encoding) => {
  options = {};
  const whole = COMPRESS[encoding](Buffer.from("hello ".repeat(1000)));
  for (const bytes of [whole.subarray(0, whole.length - 5), Buffer.from("not compressed at all")]) {
    const answer = await callHttp1({ "content-encoding": encoding }, [bytes]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).reason).toBe("BODY_DAMAGED");
  }
});

test.each(["snappy", "gzip, gzip", "gzip,br"])("encoding %j is refused", async (encoding) => {
  options = {};
  const answer = await callHttp1({ "content-encoding": encoding }, [Buffer.from("x")]);
  expect(answer.status).toBe(415);
});

test("a stalled body is refused with 408", async () => {
  options = { idleMs: 40 };
  const call = request(http1, { method: "POST", headers: { "content-length": "10" }, agent: false });
  call.on("error", () => {});
  call.write("abc");
  const [response] = await once(call, "response");
  expect(response.statusCode).toBe(408);
  expect(await text(response)).toContain("BODY_STALLED");
  call.destroy();
});

test("S7: a body with a wrong content-length never reaches the handler", async () => {
  options = {};
  // Too long over HTTP/2: the frames end before the promised bytes came.
  const stream = http2.request({ ":method": "POST", ":path": "/", "content-length": "10" });
  stream.end("abc");
  const outcome = await Promise.race([
    once(stream, "response").then(([headers]) => Number(headers[":status"])),
    once(stream, "error").then(() => "reset"),
  ]).catch(() => "reset");
  expect(["reset", 400]).toContain(outcome);
  // Too long over HTTP/1: the client closes in the middle.
  const url = new URL(http1);
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, "connect");
  socket.end("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  expect(await text(socket)).not.toContain("200 OK");
  // Both lengths at once, and no number at all, are refused by the parser.
  for (const header of [
    "Content-Length: 3\r\nContent-Length: 5",
    "Content-Length: 3x",
    "Content-Length: -1",
  ]) {
    const other = connect(Number(url.port), url.hostname);
    await once(other, "connect");
    other.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\nabcde`);
    expect(await text(other)).toMatch(/^HTTP\/1\.1 400 /);
  }
});

test("K6: bodies in flight share a budget, and release it", async () => {
  const budget = new ByteBudget("request bodies", 10_000, 8_000);
  const heldBy = (owner: string): void => void (options = { held: budget.open(owner) });
  heldBy("a");
  const first = request(http1, { method: "POST", headers: { "content-length": "8000" }, agent: false });
  first.write(Buffer.alloc(6_000));
  await expect.poll(() => budget.heldBytes).toBe(6_000);
  heldBy("a");
  const more = await callHttp1({}, [Buffer.alloc(2_500)]);
  expect([more.status, more.headers["retry-after"]]).toEqual([429, "1"]);
  expect(errorOf(more)).toMatchObject({ code: "exhausted", reason: "QUOTA" });
  heldBy("b");
  expect((await callHttp1({}, [Buffer.alloc(3_000), Buffer.alloc(1_000)])).status).toBe(200);
  const other = budget.open("c");
  other.take(4_000);
  heldBy("b");
  const second = await callHttp1({}, [Buffer.alloc(1)]);
  expect([second.status, second.headers["retry-after"]]).toEqual([503, "1"]);
  expect(errorOf(second)).toMatchObject({ code: "unavailable", reason: "OVERLOADED" });
  other.giveAll();
  first.end(Buffer.alloc(2_000));
  const [response] = await once(first, "response");
  expect((await text(response)).length).toBe(8_000);
  expect(budget.heldBytes).toBe(0);
  heldBy("b");
  expect((await callHttp1({}, [Buffer.alloc(5_000)])).status).toBe(200);
});

test("K2: the bytes of a body count as they arrive", async () => {
  let nowMs = 0;
  const quota = { requestsPerSecond: 0, bytesPerSecond: 1_000, streamsMax: 0 };
  const account = new Account("a", quota, () => nowMs);
  options = { account };
  expect((await callHttp1({}, [Buffer.alloc(2_000)])).status).toBe(200);
  expect(() => account.request()).toThrow("may send 1000 bytes in a second");
  nowMs = 1_001;
  account.request();
  // An admitted body may overdraw by a whole message and no more.
  expect((await callHttp1({}, [Buffer.alloc(limits.messageBytesMax - 500)])).status).toBe(200);
  const answer = await callHttp1({}, [Buffer.alloc(2_000)]);
  expect(answer.status).toBe(429);
  expect(errorOf(answer)).toMatchObject({ reason: "QUOTA", facts: { quota: "bytes" } });
});

test("a client that disconnects is `aborted`, and releases its bytes", async () => {
  const budget = new ByteBudget("request bodies", 10_000);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const { http1: url } = await serveBoth((incoming) => {
    readBody(incoming, { held: budget.open("a") }).catch(resolve);
  });
  const call = request(url, { method: "POST", headers: { "content-length": "100" }, agent: false });
  call.on("error", () => {});
  call.write("abc");
  await expect.poll(() => budget.heldBytes).toBe(3);
  call.destroy();
  const error = await promise;
  expect(error).toBeInstanceOf(CairnError);
  expect((error as CairnError).code).toBe("aborted");
  expect(budget.heldBytes).toBe(0);
});
