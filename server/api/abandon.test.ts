import { once } from "node:events";
import { request as requestHttp1 } from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import { createConnectTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { field } from "#wire/connect/testing/protobuf.ts";
import { callRaw, frame, PROTOCOLS, WRITE_PATH, type Protocol } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import {
  CANCEL,
  END_HEADERS,
  field as headerField,
  FRAME,
  frame as http2Frame,
  parseFrames,
  PREFACE,
  requestFields,
  uint32,
} from "../testing/frames.ts";
import { RawClient } from "../testing/raw-client.ts";
import { startServer, useWays, WAYS, type WayIn } from "../testing/servers.ts";

const SERVERS = WAYS.filter((way) => way.name === "gRPC" || way.name === "gRPC, generic");
const open = useWays(SERVERS);
const run = { alias: "target" };

async function opened(way: (typeof WAYS)[number]): Promise<WayIn> {
  const api = open(way);
  await api.runs.createRun({ namespace: "abandon", aliases: ["target"], getOrCreate: true });
  return api;
}

function envelope(value: number): Buffer {
  const message = create(EnvelopeSchema, { run, series: [{ key: "k", values: [value] }] });
  return Buffer.from(toBinary(EnvelopeSchema, message));
}

async function pointCount({ system }: WayIn): Promise<bigint> {
  return (await system.verifyRun({ run })).points;
}

describe.each(PROTOCOLS)("%s", (protocol) => {
  it("E6, W4 an upload that stops where a shorter message would end is not stored", async () => {
    // Two whole messages in one body by protobuf's rules: a parser that stops early would take the first.
    const whole = Buffer.concat([envelope(1), field(4, field(1, "k"), field(6, Buffer.alloc(8)))]);
    const part = envelope(1).length;
    for (const way of SERVERS) {
      const api = await opened(way);
      const before = await pointCount(api);
      if (protocol === "grpc" || protocol === "connect over http2")
        await abandonHttp2(Number(new URL(api.url).port), protocol, whole, part);
      else await abandonHttp1(api.url, protocol, whole, part);
      // A later write on the same server is applied after anything the abandoned call could have done.
      expect(await callRaw(api.url, { protocol, message: envelope(2) })).toEqual({ ok: true });
      expect(await pointCount(api)).toBe(before + 1n);
    }
  });
});

/** By hand: Node's own client would end the body before it resets the stream. */
async function abandonHttp2(port: number, protocol: Protocol, message: Buffer, bytes: number): Promise<void> {
  const type = protocol === "grpc" ? "application/grpc+proto" : "application/proto";
  const body = protocol === "grpc" ? frame(message) : message;
  const sent = body.subarray(0, protocol === "grpc" ? bytes + 5 : bytes);
  const client = await RawClient.connect(port);
  await client.send(Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0)]));
  const headers = Buffer.concat([requestFields("POST", WRITE_PATH), headerField("content-type", type)]);
  await client.send(http2Frame(FRAME.headers, END_HEADERS, 1, headers));
  await client.send(http2Frame(FRAME.data, 0, 1, sent));
  await pong(client, 1);
  await client.send(http2Frame(FRAME.rstStream, 0, 1, uint32(CANCEL)));
  await pong(client, 2);
  client.socket.destroy();
}

/** The server has seen what came before a ping once it answers it. */
async function pong(client: RawClient, count: number): Promise<void> {
  await client.send(http2Frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  const pongs = () =>
    parseFrames(client.received).filter(({ type, flags }) => type === FRAME.ping && flags === 1);
  await client.until(() => pongs().length >= count);
}

it("W4 clients that disconnect in the middle are not reported as failures of the server", async () => {
  for (const fast of [true, false]) {
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
    const server = await startServer([], { fast }, log);
    try {
      const { url, port } = server.listening;
      const message = envelope(1);
      for (const protocol of PROTOCOLS) {
        if (protocol === "grpc" || protocol === "connect over http2")
          await abandonHttp2(port, protocol, message, 8);
        else await abandonHttp1(url, protocol, message, 8);
      }
      // One that disconnects while its answer is being made.
      const gone = new AbortController();
      const { system } = clientsOf(createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
      const calls = Array.from({ length: 20 }, () => system.checkIntegrity({}, { signal: gone.signal }));
      gone.abort();
      expect((await Promise.allSettled(calls)).some(({ status }) => status === "rejected")).toBe(true);
    } finally {
      await server.close();
    }
    expect(lines).toEqual([]);
  }
});

async function abandonHttp1(url: string, protocol: Protocol, message: Buffer, bytes: number): Promise<void> {
  const type = protocol === "grpc-web" ? "application/grpc-web+proto" : "application/proto";
  const body = protocol === "grpc-web" ? frame(message) : message;
  for (const headers of [{ "content-length": String(body.length) }, {}]) {
    const request = requestHttp1(new URL(WRITE_PATH, url), {
      method: "POST",
      headers: { "content-type": type, ...headers },
      agent: false,
    });
    const closed = new Promise((resolve) => request.on("error", () => {}).on("close", resolve));
    request.write(body.subarray(0, protocol === "grpc-web" ? bytes + 5 : bytes));
    const [socket] = await once(request, "socket");
    if (socket.connecting) await once(socket, "connect");
    await new Promise((resolve) => socket.write("", resolve));
    request.destroy();
    await closed;
  }
}
