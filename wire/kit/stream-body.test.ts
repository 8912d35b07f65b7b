import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";
import { sendError } from "./respond.ts";
import { sendStream } from "./send-stream.ts";
import { streamBody } from "./stream-body.ts";
import { serveBoth } from "./testing.ts";

const MIB = 1 << 20;

/** What happens with the request of a path is the test's to say. */
const handlers = new Map<string, (request: HttpRequest) => Promise<string>>();
const sizes = new Map<string, number>();
const late = new Map<string, (request: HttpRequest, response: HttpResponse) => Promise<void>>();
const { http1, http2 } = await serveBoth((request, response) => {
  const path = request.url!;
  if (late.has(path)) {
    void late.get(path)!(request, response);
    return;
  }
  const size = sizes.get(path);
  if (size !== undefined) {
    response.setHeader("content-length", String(size));
    void sendStream(response, zeros(size)).catch((thrown: unknown) => sendError(request, response, thrown));
    return;
  }
  handlers.get(path)!(request).then(
    (text) => response.end(text),
    (thrown: unknown) => sendError(request, response, thrown),
  );
});

let produced = 0;
async function* zeros(size: number): AsyncGenerator<Uint8Array> {
  produced = 0;
  for (let left = size; left > 0; left -= MIB) {
    produced += Math.min(MIB, left);
    yield Buffer.alloc(Math.min(MIB, left));
  }
}

async function lengthOf(request: HttpRequest): Promise<string> {
  let length = 0;
  for await (const piece of streamBody(request)) length += piece.byteLength;
  return String(length);
}

const port = Number(new URL(http1).port);

it("F12 gives the whole body, whatever its size", async () => {
  handlers.set("/length", lengthOf);
  for (const size of [0, 1, 5 * MIB]) {
    const answer = await fetch(`${http1}/length`, { method: "PUT", body: Buffer.alloc(size) });
    expect(await answer.text()).toBe(String(size));
    const stream = http2.request({ ":method": "PUT", ":path": "/length" });
    stream.end(Buffer.alloc(size));
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(String(size));
  }
});

it("F12 reads no more than is asked for: the sender has to wait", async () => {
  const begun = Promise.withResolvers<HttpRequest>();
  const goOn = Promise.withResolvers<void>();
  handlers.set("/slow", async (request) => {
    let length = 0;
    for await (const piece of streamBody(request)) {
      length += piece.byteLength;
      begun.resolve(request);
      await goOn.promise;
    }
    return String(length);
  });
  const socket = connectSocket(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`PUT /slow HTTP/1.1\r\nhost: x\r\ncontent-length: ${64 * MIB}\r\n\r\n`);
  for (let i = 0; i < 64; i++) socket.write(Buffer.alloc(MIB));
  const { socket: served } = await begun.promise;
  // Until the kernel takes no more from the client.
  let before = -1;
  await expect
    .poll(() => {
      const still = before === served.bytesRead;
      before = served.bytesRead;
      return still && socket.writableLength > 0;
    })
    .toBe(true);
  expect(served.bytesRead).toBeLessThan(4 * MIB);
  goOn.resolve();
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toContain(String(64 * MIB));
  socket.destroy();
});

it("F12 produces no more than the reader takes", async () => {
  sizes.set("/large", 96 * MIB);
  const socket = connectSocket(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("GET /large HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "readable");
  let before = -1;
  await expect
    .poll(() => {
      const still = before === produced;
      before = produced;
      return still;
    })
    .toBe(true);
  expect(produced).toBeLessThan(32 * MIB);
  let read = 0;
  socket.on("data", (chunk) => (read += chunk.length));
  await expect.poll(() => read, { timeout: 30_000 }).toBeGreaterThanOrEqual(96 * MIB);
  socket.destroy();
});

it("F3 a sender that goes away ends the body with an error, not as if all had come", async () => {
  const outcome = Promise.withResolvers<unknown>();
  const begun: (() => void)[] = [];
  handlers.set("/cut", async (request) => {
    try {
      for await (const piece of streamBody(request)) {
        expect(piece.byteLength).toBeGreaterThan(0);
        begun.shift()?.();
      }
      outcomes.shift()?.("whole");
    } catch (thrown) {
      outcomes.shift()?.(thrown);
    }
    return "";
  });
  const outcomes: ((value: unknown) => void)[] = [outcome.resolve];
  const started = Promise.withResolvers<void>();
  begun.push(started.resolve);
  const socket = connectSocket(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("PUT /cut HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
  await started.promise;
  socket.destroy();
  expect(await outcome.promise).toMatchObject({ name: "CairnError", code: "aborted" });

  const again = Promise.withResolvers<unknown>();
  const startedAgain = Promise.withResolvers<void>();
  outcomes.push(again.resolve);
  begun.push(startedAgain.resolve);
  const stream = http2.request({ ":method": "PUT", ":path": "/cut" });
  stream.on("error", () => {});
  stream.write("abc");
  await startedAgain.promise;
  stream.destroy();
  expect(await again.promise).toMatchObject({ name: "CairnError", code: "aborted" });
});

it("F3 F12 a client that has gone before its body is read, or its answer sent, ends both", async () => {
  const outcomes: unknown[] = [];
  let started = 0;
  const handle = async (request: HttpRequest) => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    request.on("close", resolve).on("error", () => {});
    started++;
    await gone;
    for await (const piece of streamBody(request)) outcomes.push(piece);
    return "";
  };
  handlers.set("/gone", (request) =>
    handle(request).catch((thrown: unknown) => {
      outcomes.push(thrown);
      return "";
    }),
  );
  const socket = connectSocket(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("PUT /gone HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n");
  const stream = http2.request({ ":method": "PUT", ":path": "/gone" });
  stream.on("error", () => {});
  await expect.poll(() => started).toBe(2);
  socket.destroy();
  stream.destroy();
  const aborted = expect.objectContaining({ name: "CairnError", code: "aborted" });
  await expect.poll(() => outcomes).toEqual([aborted, aborted]);

  let ended = 0;
  late.set("/late", async (request, response) => {
    const gone = once(response, "close");
    started++;
    await gone;
    await sendStream(response, zeros(MIB));
    ended += request.url === "/late" ? 1 : 0;
  });
  const reader = connectSocket(port, "127.0.0.1");
  await once(reader, "connect");
  reader.write("GET /late HTTP/1.1\r\nhost: x\r\n\r\n");
  const reading = http2.request({ ":path": "/late" });
  reading.on("error", () => {});
  await expect.poll(() => started).toBe(4);
  reader.destroy();
  reading.destroy();
  await expect.poll(() => ended).toBe(2);
});

it("takes an HTTP/2 request that ends with its head", async () => {
  handlers.set("/length", lengthOf);
  const stream = http2.request({ ":method": "PUT", ":path": "/length" }, { endStream: true });
  const [piece] = (await once(stream, "data")) as [Buffer];
  expect(piece.toString()).toBe("0");
});

it("answers while the rest of a body it does not want still comes", async () => {
  handlers.set("/refused", async (request) => {
    for await (const piece of streamBody(request)) {
      throw new CairnError("invalid", `cannot take ${piece.byteLength > 0}`);
    }
    return "";
  });
  const answer = await fetch(`${http1}/refused`, { method: "PUT", body: Buffer.alloc(8 * MIB) });
  expect(answer.status).toBe(400);
});
