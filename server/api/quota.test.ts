import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import type { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { startServer } from "../testing/servers.ts";
import type { ServeOptions, Server } from "../serve.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

async function open(argv: readonly string[], options: ServeOptions = {}): Promise<Server> {
  const server = await startServer(argv, options);
  onTestFinished(() => server.close());
  return server;
}

function grpc(server: Server): Clients {
  return clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
}

async function runIn({ runs }: Clients): Promise<string> {
  const { run } = await runs.createRun({});
  return run!.id;
}

function envelope(id: string, seq: number, points = 1): EnvelopeInit {
  const values = Array.from({ length: points }, (_, at) => seq + at);
  return { run: { id }, writer: "w", seq: BigInt(seq), series: [{ key: "k", values }] };
}

/** Many at once, again and again: on a slow machine a quota of some a second lasts for a while. */
async function untilRefused(
  call: () => Promise<Response>,
  expected = 200,
): Promise<{ served: number; refusal: Response }> {
  for (let served = 0; ;) {
    const answers = await Promise.all(Array.from({ length: 30 }, call));
    const refusals = answers.filter(({ status }) => status === 429);
    served += answers.length - refusals.length;
    expect(answers.every(({ status }) => status === expected || status === 429)).toBe(true);
    if (refusals.length > 0) return { served, refusal: refusals[0]! };
  }
}

it("K1, K5 over the quota plain routes answer 429, and public ones still work", async () => {
  const server = await open(["--quota-requests-per-second", "5"]);
  const { url } = server.listening;
  const route = await untilRefused(() => fetch(`${url}/metrics`));
  expect(route.served).toBeGreaterThanOrEqual(5);
  const call = await untilRefused(() =>
    fetch(`${url}/cairn.v1.SystemService/GetInfo`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    }),
  );
  expect(call.refusal.headers.get("retry-after")).toBe("1");
  expect(await call.refusal.json()).toMatchObject({
    code: "resource_exhausted",
    details: [{ debug: { reason: "QUOTA" } }],
  });
  for (const path of ["/healthz", "/readyz"]) expect((await fetch(`${url}${path}`)).status).toBe(200);
});

it("K5 wrong credentials are counted by address", async () => {
  const server = await open(["--auth", "--quota-requests-per-second", "5"]);
  const { url } = server.listening;
  const wrong = { headers: { authorization: "Bearer cairn_wrong" } };
  const { served } = await untilRefused(() => fetch(`${url}/metrics`, wrong), 401);
  expect(served).toBeGreaterThanOrEqual(5);
  const admin = { authorization: `Bearer ${server.newToken}` };
  expect((await fetch(`${url}/metrics`, { headers: admin })).status).toBe(200);
});

it.each([true, false])("K2 bytes count as they come (fast: %s)", async (fast) => {
  const server = await open(["--quota-bytes-per-second", "50000"], { fast });
  const { runs, metrics } = grpc(server);
  const id = await runIn({ runs } as Clients);
  // Sixteen seconds' worth in one message is taken, and paid for before the next.
  await metrics.writeEnvelope(envelope(id, 1, 100_000));
  const refused = await errorOf(metrics.writeEnvelope(envelope(id, 2)));
  expect(refused).toMatchObject({
    code: "ResourceExhausted",
    details: [{ reason: "QUOTA", facts: { quota: "bytes", limit: "50000" } }],
  });
  const waitMs = Number(refused.details[0]!.facts["retry_after_ms"]);
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(15_100);
});

it("K3 open streams are bounded, and one that ends makes room", async () => {
  const server = await open(["--quota-streams", "2"]);
  const { runs, metrics } = grpc(server);
  const id = await runIn({ runs } as Clients);
  const streams = [1, 2].map((number) => {
    const held = Promise.withResolvers<void>();
    async function* sent(): AsyncGenerator<EnvelopeInit> {
      yield { ...envelope(id, 1), writer: `stream ${number}` };
      await held.promise;
    }
    return { held, acks: metrics.streamEnvelopes(sent())[Symbol.asyncIterator]() };
  });
  for (const { acks } of streams) expect((await acks.next()).value).toMatchObject({ seq: 1n });
  async function* one(): AsyncGenerator<EnvelopeInit> {
    yield { ...envelope(id, 1), writer: "third" };
  }
  const third = async (): Promise<number> => {
    let acks = 0;
    for await (const ack of metrics.streamEnvelopes(one())) acks += Number(ack.seq);
    return acks;
  };
  expect(await errorOf(third())).toMatchObject({
    code: "ResourceExhausted",
    details: [{ reason: "QUOTA", facts: { quota: "streams", limit: "2", retry_after_ms: "1000" } }],
  });
  // Single calls do not count as streams.
  await metrics.writeEnvelope(envelope(id, 1));
  streams[0]!.held.resolve();
  expect((await streams[0]!.acks.next()).done).toBe(true);
  await expect.poll(() => third().catch(() => 0)).toBe(1);
  streams[1]!.held.resolve();
  expect((await streams[1]!.acks.next()).done).toBe(true);
});

it("K3 a stream whose client disconnects makes room", async () => {
  const server = await open(["--quota-streams", "1"]);
  const health = connect(server.listening.url);
  onTestFinished(() => health.destroy());
  const watch = (): ReturnType<typeof health.request> => {
    const stream = health.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc+proto",
      te: "trailers",
    });
    stream.on("error", () => {});
    stream.end(Buffer.alloc(5));
    return stream;
  };
  const first = watch();
  await once(first, "data");
  const second = watch();
  second.resume();
  const [trailers] = (await once(second, "trailers")) as [Record<string, string>];
  expect(trailers).toMatchObject({ "grpc-status": "8", "retry-after": "1" });
  first.close();
  await expect
    .poll(async () => {
      const next = watch();
      const came = await Promise.race([
        once(next, "data").then(() => "data"),
        once(next, "trailers").then(() => "refused"),
      ]);
      next.close();
      return came;
    })
    .toBe("data");
});

it("K4 a stream over its quota is slowed down and loses nothing", async () => {
  const server = await open(["--quota-requests-per-second", "20"]);
  const { runs, metrics } = grpc(server);
  const id = await runIn({ runs } as Clients);
  const COUNT = 40;
  async function* sent(): AsyncGenerator<EnvelopeInit> {
    for (let seq = 1; seq <= COUNT; seq++) yield envelope(id, seq);
  }
  const startMs = performance.now();
  const acks: bigint[] = [];
  for await (const ack of metrics.streamEnvelopes(sent())) acks.push(ack.seq);
  expect(acks).toEqual(Array.from({ length: COUNT }, (_, at) => BigInt(at + 1)));
  // 40 at 20 a second, of which the first twenty may come at once.
  expect(performance.now() - startMs).toBeGreaterThan(900);
});

it("K4 an upload over its quota is slowed down and arrives complete", async () => {
  const server = await open(["--quota-bytes-per-second", "40000"]);
  const { url } = server.listening;
  const id = await runIn(grpc(server));
  const content = Buffer.from(Array.from({ length: 80_000 }, (_, at) => at % 251));
  const startMs = performance.now();
  const put = await fetch(`${url}/artifacts/${id}/weights.bin`, { method: "PUT", body: content });
  expect(put.status, await put.text()).toBe(201);
  // Two seconds' worth, of which the first may come at once.
  expect(performance.now() - startMs).toBeGreaterThan(750);
  const got = await fetch(`${url}/artifacts/${id}/weights.bin`);
  expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true);
});

it("K3 uploads count as streams", async () => {
  const server = await open(["--quota-streams", "1"]);
  const { url } = server.listening;
  const id = await runIn(grpc(server));
  const first = request(`${url}/artifacts/${id}/first`, { method: "PUT", agent: false });
  first.write("begun");
  const second = (): Promise<Response> =>
    fetch(`${url}/artifacts/${id}/second`, { method: "PUT", body: "x" });
  await expect.poll(async () => (await second()).status).toBe(429);
  const refused = await second();
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({
    code: "exhausted",
    reason: "QUOTA",
    facts: { quota: "streams" },
  });
  first.end();
  const [response] = await once(first, "response");
  response.resume();
  expect(response.statusCode).toBe(201);
  await expect.poll(async () => (await second()).status).toBe(201);
});

it("K1, K4 0 means no limit", async () => {
  const server = await open([
    "--quota-requests-per-second",
    "0",
    "--quota-bytes-per-second",
    "0",
    "--quota-streams",
    "0",
  ]);
  const { runs, metrics } = grpc(server);
  const id = await runIn({ runs } as Clients);
  const acks = await Promise.all(
    Array.from({ length: 200 }, (_, at) => metrics.writeEnvelope({ ...envelope(id, 1), writer: `w${at}` })),
  );
  expect(acks.every(({ seq }) => seq === 1n)).toBe(true);
  expect(await errorOf(metrics.writeEnvelope(envelope("0".repeat(32), 1)))).toMatchObject({
    code: Code[Code.NotFound],
  });
});
