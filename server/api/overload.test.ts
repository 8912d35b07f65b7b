import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { limits } from "#lang/limits.ts";
import { Backlog } from "#core/quota/backlog.ts";
import { Encoding, EnvelopeSchema, ReadSeriesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import {
  callRaw,
  errorOf,
  frame,
  outcomeOf,
  PROTOCOLS,
  sendRaw,
  WRITE_PATH,
  type ErrorFacts,
} from "#wire/connect/testing/raw-call.ts";
import { clientsOf, WAYS } from "#wire/connect/testing/ways.ts";
import { ByteBudget } from "#wire/kit/byte-budget.ts";
import type { ServeOptions, Server } from "../serve.ts";
import { startServer } from "../testing/servers.ts";

const run = { alias: "target" };
const READ_PATH = "/cairn.v1.MetricService/ReadSeries";

async function open(options: ServeOptions): Promise<Server> {
  const server = await startServer([], options);
  onTestFinished(() => server.close());
  const { runs } = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  await runs.createRun({ namespace: "overload", aliases: ["target"] });
  return server;
}

function envelope(points: number, key = "k"): Buffer {
  const values = Array.from({ length: points }, (_, at) => at);
  return Buffer.from(toBinary(EnvelopeSchema, create(EnvelopeSchema, { run, series: [{ key, values }] })));
}

async function pointCount({ listening }: Server): Promise<number> {
  const { system } = clientsOf(createGrpcTransport({ baseUrl: listening.url }));
  return Number((await system.verifyRun({ run })).points);
}

const OVERLOADED = {
  code: "Unavailable",
  details: [{ reason: "OVERLOADED", facts: { retry_after_ms: "1000" } }],
};

describe.each([true, false])("fast: %s", (fast) => {
  it("K6 bodies in memory are limited: one more is refused before it is read, and works later", async () => {
    const bodies = new ByteBudget("request bodies", 100_000, 100_000);
    const server = await open({ fast, budgets: { bodies } });
    const { url } = server.listening;
    const before = await pointCount(server);
    const slow = request(new URL(WRITE_PATH, url), {
      method: "POST",
      headers: { "content-type": "application/proto" },
      agent: false,
    });
    const message = envelope(12_400);
    slow.write(message.subarray(0, 90_000));
    await expect.poll(() => bodies.heldBytes).toBe(90_000);
    for (const protocol of PROTOCOLS) {
      const outcome = await callRaw(url, { protocol, message: envelope(2_000) });
      expect(outcome, protocol).toMatchObject(OVERLOADED);
    }
    // What fits is taken.
    expect(await callRaw(url, { protocol: "grpc", message: envelope(100) })).toEqual({ ok: true });
    slow.end(message.subarray(90_000));
    const [response] = await once(slow, "response");
    response.resume();
    expect(response.statusCode).toBe(200);
    await expect.poll(() => bodies.heldBytes).toBe(0);
    for (const protocol of PROTOCOLS) {
      expect(await callRaw(url, { protocol, message: envelope(2_000) }), protocol).toEqual({ ok: true });
    }
    await expect.poll(() => bodies.heldBytes).toBe(0);
    expect(await pointCount(server)).toBe(before + 12_400 + 100 + 4 * 2_000);
  });

  it("K6 abandoned, refused and compressed bodies release their memory", async () => {
    const bodies = new ByteBudget("request bodies", 1 << 20);
    const server = await open({ fast, budgets: { bodies } });
    const { url } = server.listening;
    const session = connect(url);
    session.on("error", () => {});
    onTestFinished(() => session.destroy());
    for (const type of ["application/grpc+proto", "application/proto", "application/json"]) {
      const headers = { ":method": "POST", ":path": WRITE_PATH, "content-type": type };
      const stream = session.request(headers);
      stream.on("error", () => {});
      stream.write(frame(Buffer.alloc(50_000)).subarray(0, 10_000));
      await expect.poll(() => bodies.heldBytes).toBe(10_000);
      stream.close(8);
      await expect.poll(() => bodies.heldBytes).toBe(0);
    }
    const outcome = await callRaw(url, { protocol: "grpc", message: Buffer.alloc(20_000, 0xff) });
    expect(outcome).toMatchObject({ code: "InvalidArgument" });
    await expect.poll(() => bodies.heldBytes).toBe(0);
  });

  it("K7 unread answers are limited, and clients that read theirs are served again", async () => {
    // Each answer has 800 kB: two of them fit.
    const answers = new ByteBudget("answers", 2_000_000, 2_000_000);
    const server = await open({ fast, budgets: { answers } });
    const { url } = server.listening;
    const clients = clientsOf(createGrpcTransport({ baseUrl: url }));
    const values = Array.from({ length: 100_000 }, (_, index) => index);
    await clients.metrics.writeEnvelope({ run, series: [{ key: "long", values }] });
    const ask = { series: [{ run, key: "long" }] };
    const session = connect(url);
    onTestFinished(() => session.destroy());
    const message = frame(toBinary(ReadSeriesRequestSchema, create(ReadSeriesRequestSchema, ask)));
    const stalled = [1, 2, 3].map(() => {
      const stream = session.request({
        ":method": "POST",
        ":path": READ_PATH,
        "content-type": "application/grpc+proto",
        te: "trailers",
      });
      stream.on("error", () => {});
      stream.end(message);
      return stream;
    });
    await expect.poll(() => answers.heldBytes).toBeGreaterThan(1_599_999);
    const ways = WAYS.filter(({ server: kind }) => kind === "fast");
    for (const way of ways) {
      const { metrics } = clientsOf(way.transport(url));
      expect(await errorOf(metrics.readSeries(ask)), way.name).toMatchObject(OVERLOADED);
    }
    // Writes and small answers of other methods continue.
    expect(await callRaw(url, { protocol: "grpc", message: envelope(10) })).toEqual({ ok: true });
    for (const stream of stalled) stream.close(8);
    await expect.poll(() => answers.heldBytes).toBe(0);
    for (const way of ways) {
      const read = clientsOf(way.transport(url)).metrics;
      const { series } = await read.readSeries({ ...ask, encoding: Encoding.BYTES });
      expect(Number(series[0]!.pointCount), way.name).toBe(100_000);
    }
    await expect.poll(() => answers.heldBytes).toBe(0);
  });

  it("K8 envelopes above the backlog limit are refused as a whole, and accepted on retry", async () => {
    const backlog = new Backlog({ itemsMax: 3, bytesMax: 1 << 20 });
    const server = await open({ fast, backlog });
    const { url } = server.listening;
    const { metrics, system } = clientsOf(createGrpcTransport({ baseUrl: url }));
    let refused = 0;
    const write = async (writer: string): Promise<void> => {
      for (let seq = 1n; seq <= 3n;) {
        try {
          const ack = await metrics.writeEnvelope({
            run,
            writer,
            seq,
            series: [{ key: writer, values: [1, 2] }],
          });
          expect(ack).toMatchObject({ seq, duplicate: false, points: 2n });
          seq++;
        } catch (thrown) {
          expect(await errorOf(Promise.reject(thrown))).toMatchObject(OVERLOADED);
          refused++;
        }
      }
    };
    await Promise.all(Array.from({ length: 15 }, (_, at) => write(`w${at}`)));
    expect(refused).toBeGreaterThan(0);
    expect([backlog.items, backlog.bytes]).toEqual([0, 0]);
    const verified = await system.verifyRun({ run });
    expect(Number(verified.points)).toBe(15 * 3 * 2);
    expect(verified.writers.every(({ lastSeq, envelopes }) => lastSeq === 3n && envelopes === 3n)).toBe(true);
  });
});

it("K8 a full backlog refuses before the body is read", async () => {
  const backlog = new Backlog({ itemsMax: 1, bytesMax: 1 << 20 });
  const server = await open({ backlog });
  const leave = backlog.enter(1);
  for (const protocol of ["connect", "grpc-web"] as const) {
    const call = request(new URL(WRITE_PATH, server.listening.url), {
      method: "POST",
      headers: {
        "content-type": protocol === "connect" ? "application/proto" : "application/grpc-web+proto",
        "content-length": "1000",
      },
      agent: false,
    });
    call.on("error", () => {});
    call.write("x");
    const [response] = await once(call, "response");
    expect(response.statusCode).toBe(protocol === "connect" ? 503 : 200);
    if (protocol === "connect") expect(response.headers["retry-after"]).toBe("1");
    call.destroy();
  }
  const { runs } = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  expect((await runs.searchRuns({})).totalCount).toBe(1n);
  leave();
  expect(await callRaw(server.listening.url, { protocol: "connect", message: envelope(1) })).toEqual({
    ok: true,
  });
});

// A message that is too long is in server/api/errors.test.ts.
it("K9 limits that do not pass with time have no time to wait", async () => {
  const server = await open({});
  const message = envelope(1, "k".repeat(limits.keyBytesMax + 1));
  for (const protocol of PROTOCOLS) {
    const answer = await sendRaw(server.listening.url, { protocol, message });
    const outcome = outcomeOf(protocol, answer);
    expect(outcome).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
    const [detail] = (outcome as { details: ErrorFacts[] }).details;
    expect(detail!.facts).not.toHaveProperty("retry_after_ms");
    expect([answer.headers.get("retry-after"), answer.trailers.get("retry-after")]).toEqual([null, null]);
  }
});
