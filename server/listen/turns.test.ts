import { once } from "node:events";
import { expect, test } from "vitest";
import { makeCertificate } from "#server/testing/certificate.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, PREFACE, requestFields } from "#server/testing/frames.ts";
import { usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";
import type { HttpRequest, HttpResponse } from "#wire/kit/http.ts";

const { open } = usePorts();

const MANY = 200;

/** Keeps the thread busy, like making an answer. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** Answers at once, and notes in which order requests were begun. */
function noting(): {
  begun: string[];
  first: Promise<void>;
  onRequest(request: HttpRequest, response: HttpResponse): void;
} {
  const begun: string[] = [];
  const { promise: first, resolve } = Promise.withResolvers<void>();
  return {
    begun,
    first,
    onRequest(request, response) {
      begun.push(request.url!);
      resolve();
      work(0.2);
      response.end("ok");
    },
  };
}

/** Node lets waiting callbacks run between two requests only where there is a body. */
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test.each([
  ["without bodies", get],
  ["with bodies", post],
])("K13, S28: one connection that pipelines requests %s takes turns with others", async (_, ask) => {
  const { begun, onRequest } = noting();
  const { port } = await open({ onRequest });
  const other = await RawClient.connect(port);
  const greedy = await RawClient.connect(port);
  // Requests after the first one of a connection take another path through Node.
  await greedy.send(get("/first"));
  await greedy.until(({ text }) => text.includes("ok"));
  begun.splice(0);
  const later = new Promise<void>((resolve) => greedy.socket.once("data", () => resolve()));
  await greedy.send(ask("/greedy").repeat(MANY));
  await later;
  await other.send(get("/other"));
  await other.until(({ text }) => text.includes("ok"));
  expect(begun.indexOf("/other")).toBeLessThan(MANY / 2);
  await greedy.until(({ text }) => text.split("200 OK").length > MANY + 1);
  expect(begun.filter((path) => path === "/greedy")).toHaveLength(MANY);
});

test("K13, S28: one connection with many streams takes turns with others", async () => {
  const { begun, first, onRequest } = noting();
  const { port } = await open({ onRequest });
  const other = await RawClient.connect(port);
  const greedy = await RawClient.connect(port);
  const streams = Array.from({ length: MANY }, (_, i) =>
    frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * i + 1, requestFields("GET", "/greedy")),
  );
  await greedy.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), ...streams]));
  await first;
  await other.send(get("/other"));
  await other.until(({ text }) => text.includes("ok"));
  expect(begun.indexOf("/other")).toBeLessThan(MANY / 2);
  await expect.poll(() => begun.filter((path) => path === "/greedy").length).toBe(MANY);
});

test("K13 answers to pipelined requests are in their order, for any duration of each", async () => {
  const waiting: HttpResponse[] = [];
  const { port } = await open({
    onRequest(request, response) {
      if (request.url === "/slow") setImmediate(() => setImmediate(() => response.end("[/slow]")));
      else response.end(`[${request.url}]`);
      waiting.push(response);
    },
  });
  const client = await RawClient.connect(port);
  await client.send(get("/slow") + get("/a") + get("/slow") + get("/b"));
  await client.until(({ text }) => text.includes("[/b]"));
  expect(client.text.match(/\[.*?\]/g)).toEqual(["[/slow]", "[/a]", "[/slow]", "[/b]"]);
});

test("K13, S28: a connection with many requests waiting is not read from until they are answered", async () => {
  const held: HttpResponse[] = [];
  const begun: string[] = [];
  const { port } = await open({
    onRequest(request, response) {
      begun.push(request.url!);
      held.push(response);
    },
  });
  const client = await RawClient.connect(port);
  // More than any socket buffers hold, so that the client must wait.
  const bytes = Buffer.from(get(`/${"x".repeat(4_000)}`).repeat(4_000));
  client.socket.write(bytes);
  await expect.poll(() => held.length).toBe(1);
  const settled = async (): Promise<number> => {
    let last = -1;
    while (client.socket.writableLength !== last) {
      last = client.socket.writableLength;
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    }
    return last;
  };
  expect(await settled()).toBeGreaterThan(0);
  expect(begun).toHaveLength(1);
  // One after the other as they are answered, and all of them in the end.
  while (begun.length < 4_000) {
    for (const response of held.splice(0)) response.end("ok");
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test.each(["http", "https"])(
  "S25 the waiting requests of a client that disconnects are dropped (%s)",
  async (scheme) => {
    const closed: string[] = [];
    let begun = 0;
    const listening = await open({
      ...(scheme === "https" && { tls: makeCertificate() }),
      onRequest(request, response) {
        begun++;
        response.once("close", () => closed.push(request.url!));
      },
    });
    const socket =
      scheme === "http"
        ? (await RawClient.connect(listening.port)).socket
        : (await import("node:tls")).connect({
            port: listening.port,
            host: "127.0.0.1",
            rejectUnauthorized: false,
            ALPNProtocols: ["http/1.1"],
          });
    if (scheme === "https") await once(socket, "secureConnect");
    // Node itself answers the first one, which has no host.
    socket.write(`GET /none HTTP/1.1\r\n\r\n${get("/a")}${get("/b")}`);
    await expect.poll(() => begun).toBe(1);
    socket.destroy();
    await expect.poll(() => closed).toEqual(["/a"]);
    await expect.poll(() => listening.counts().open).toBe(0);
    expect(begun).toBe(1);
  },
);
