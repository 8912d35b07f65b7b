/**
 * Every kind of call and answer on every way to talk to a server. Tests of a feature try it on TWO_WAYS; properties of
 * a transport are tested here.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { Encoding, SeriesKind, type EnvelopeSchema, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf, type Outcome } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { useWays, WAYS } from "../testing/servers.ts";
import { Watching } from "../testing/watching.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

const open = useWays(WAYS);
const openLimited = useWays(WAYS, ["--quota-requests-per-second", "5"]);

async function newRun({ runs }: Clients): Promise<string> {
  const { run } = await runs.createRun({ namespace: "ways" });
  return run!.id;
}

async function read({ metrics }: Clients, id: string, key: string): Promise<SeriesData> {
  const { series } = await metrics.readSeries({ series: [{ run: { id }, key }], encoding: Encoding.NUMBERS });
  return series[0]!;
}

function numbered(id: string, seq: number): EnvelopeInit {
  return { run: { id }, writer: "w", seq: BigInt(seq), series: [{ key: "k", values: [seq] }] };
}

describe.each(WAYS)("$name", (way) => {
  it("D4, W1 acknowledged data is in the next read, list, search and count", async () => {
    const api = open(way);
    const { runs, metrics, namespaces } = api;
    const namespace = `d4/${randomUUID()}`;
    for (let i = 1; i <= 3; i++) {
      const { run } = await runs.createRun({ namespace });
      const { id } = run!;
      const series = [{ key: "loss", values: [1 / i] }];
      const ack = await metrics.writeEnvelope({ run: { id }, series, params: { lr: `${i}.0` } });
      expect(ack).toMatchObject({ duplicate: false, points: 1n });
      expect((await read(api, id, "loss")).values!.numbers).toEqual([1 / i]);
      expect(await metrics.listSeries({ run: { id } })).toMatchObject({ totalCount: 1n });
      const query = `metrics.loss.min <= ${1 / i} and params.lr = ${i}`;
      const found = await runs.searchRuns({ query, namespace, columns: ["params", "metrics.loss.last"] });
      expect(found.runs).toMatchObject([{ id, params: { lr: `${i}.0` }, metrics: { "loss.last": 1 / i } }]);
      expect((await namespaces.getNamespace({ path: namespace })).runCount).toBe(BigInt(i));
    }
  });

  it("V1 numbers are exact to the bit", async () => {
    const api = open(way);
    const id = await newRun(api);
    const values = [NaN, Infinity, -Infinity, 5e-324, -5e-324, 1.7976931348623157e308, 0.1, -1 / 3, 0];
    if (!way.json) values.push(-0);
    const steps = values.map((_, i) => BigInt(i));
    await api.metrics.writeEnvelope({ run: { id }, series: [{ key: "v", values, steps }] });
    expect((await read(api, id, "v")).values!.numbers).toEqual(values);
    const { series } = await api.metrics.readSeries({ series: [{ run: { id }, key: "v" }] });
    expect(Buffer.from(series[0]!.values!.bytes)).toEqual(Buffer.from(Float64Array.from(values).buffer));
  });

  it("V2 integers, booleans and texts keep their type", async () => {
    const api = open(way);
    const id = await newRun(api);
    const integers = [2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, 0n];
    const bools = [true, false, false, true];
    const texts = ["", "snow ☃", "\u0000\n", "𝒳"];
    await api.metrics.writeEnvelope({
      run: { id },
      series: [
        { key: "i", kind: SeriesKind.INTEGER, integers },
        { key: "b", kind: SeriesKind.BOOL, bools },
        { key: "t", kind: SeriesKind.TEXT, texts },
      ],
    });
    expect((await read(api, id, "i")).values!.integers).toEqual(integers);
    expect((await read(api, id, "b")).values!.numbers).toEqual([1, 0, 0, 1]);
    expect((await read(api, id, "t")).texts).toEqual(texts);
    const { series } = await api.metrics.listSeries({ run: { id } });
    expect(series.map(({ key, kind }) => [key, kind])).toEqual([
      ["b", SeriesKind.BOOL],
      ["i", SeriesKind.INTEGER],
      ["t", SeriesKind.TEXT],
    ]);
    expect(series[1]!.summary!.first!.integer).toBe(2n ** 63n - 1n);
    expect(series[2]!.summary!.last!.text).toBe("𝒳");
  });

  it("W1 a large message goes in, and a large answer comes out, compressed or not", async () => {
    const { url } = open(way);
    for (const [sendCompression, points] of [
      // Many times what a stream may send before the other side has read.
      [undefined, 50_000],
      [compressionGzip, 5_000],
      [compressionBrotli, 1_000],
    ] as const) {
      const api = clientsOf(way.transport(url, sendCompression && { sendCompression }));
      const id = await newRun(api);
      const values = Array.from({ length: points }, (_, i) => Math.sin(i));
      await api.metrics.writeEnvelope({ run: { id }, series: [{ key: "large", values }] });
      const { series } = await api.metrics.readSeries({ series: [{ run: { id }, key: "large" }] });
      const { bytes } = series[0]!.values!;
      expect(Buffer.compare(bytes, Buffer.from(Float64Array.from(values).buffer))).toBe(0);
    }
  });

  it("W1 a stream of answers arrives while it is open, and ends when complete", async () => {
    const api = open(way);
    const id = await newRun(api);
    const say = (text: string) => api.metrics.writeEnvelope({ run: { id }, log: [{ lines: [text] }] });
    await say("before");
    const taken: string[] = [];
    for await (const { lines } of api.logs.tailLog({ run: { id }, from: 0n })) {
      taken.push(...lines.map(({ text }) => text));
      // Each answer causes the next.
      if (taken.length < 4) await say(`line ${taken.length}`);
      else await api.runs.updateRun({ run: { id }, status: RunStatus.FINISHED });
    }
    expect(taken).toEqual(["before", "line 1", "line 2", "line 3"]);
  });

  it("W1, H2 a watch gives events of any size, and is refused by name", async () => {
    const api = open(way);
    const namespace = `h2-${randomUUID()}`;
    const watching = await Watching.open(api.watch, { runs: { namespace, columns: ["notes"] } });
    // More than the window of a stream.
    const notes = "☃".repeat(100_000);
    const { run } = await api.runs.createRun({ namespace, notes });
    expect(await watching.next("runs")).toMatchObject({ runs: [{ id: run!.id, notes }], left: [] });
    await api.runs.deleteRun({ run: { id: run!.id } });
    expect(await watching.next("runs")).toMatchObject({ runs: [], left: [run!.id] });
    watching.stop();
    const unknown = new Watching(api.watch, { series: [{ run: { id: "0".repeat(32) } }] });
    expect(await errorOf(unknown.any())).toMatchObject({ code: "NotFound" });
  });

  it("W4 abandoned calls and streams are only reported to the client", async () => {
    const api = open(way);
    const id = await newRun(api);
    const gone = new AbortController();
    const calls = Array.from({ length: 5 }, () => api.system.checkIntegrity({}, { signal: gone.signal }));
    const tail = api.logs.tailLog({ run: { id } }, { signal: gone.signal })[Symbol.asyncIterator]();
    expect(await tail.next()).toMatchObject({ value: { lines: [], next: 0n } });
    const settled = Promise.allSettled([...calls, tail.next()]);
    gone.abort();
    for (const outcome of await settled) {
      if (outcome.status === "rejected") expect(ConnectError.from(outcome.reason).code).toBe(Code.Canceled);
    }
    expect((await settled).at(-1)!.status).toBe("rejected");
    expect(await api.metrics.writeEnvelope(numbered(id, 1))).toMatchObject({ seq: 1n });
  });

  it("W1 a deadline ends a stream, and a call meets it or misses it", async () => {
    const api = open(way);
    const id = await newRun(api);
    const tail = api.logs.tailLog({ run: { id } }, { timeoutMs: 200 });
    const ended = errorOf(
      (async () => {
        for await (const { lines } of tail) expect(lines).toEqual([]);
      })(),
    );
    expect(await ended).toMatchObject({ code: "DeadlineExceeded" });
    const met = await api.metrics.writeEnvelope(numbered(id, 1), { timeoutMs: 60_000 });
    expect(met).toMatchObject({ seq: 1n });
    const missed = await api.metrics
      .writeEnvelope(numbered(id, 2), { timeoutMs: 1 })
      .catch((thrown) => thrown);
    if (missed instanceof Error) expect(ConnectError.from(missed).code).toBe(Code.DeadlineExceeded);
    else expect(missed).toMatchObject({ seq: 2n });
  });

  it("W6 a wrong credential is refused in calls and in streams", async () => {
    const { runs, metrics, watch } = open(way);
    const headers = { authorization: `Bearer cairn_${"a".repeat(43)}` };
    const first = await errorOf(runs.getRun({ run: { alias: "x" } }, { headers }));
    expect(first).toMatchObject({ code: "Unauthenticated", details: [{ reason: expect.any(String) }] });
    expect(await errorOf(metrics.writeEnvelope(numbered("0".repeat(32), 1), { headers }))).toEqual(first);
    expect(await errorOf(new Watching(watch, { runs: {} }, { headers }).any())).toEqual(first);
  });

  it("K1, K9 a caller over its quota is refused with the time to wait, and served after it", async () => {
    const { runs, metrics } = openLimited(way);
    const run = { alias: "limited" };
    await served(() => runs.createRun({ aliases: ["limited"], getOrCreate: true }));
    const write = () => metrics.writeEnvelope({ run, series: [{ key: way.name, values: [1] }] });
    const refused: unknown[] = [];
    while (refused.length === 0) {
      const outcomes = await Promise.allSettled(Array.from({ length: 30 }, write));
      for (const outcome of outcomes) if (outcome.status === "rejected") refused.push(outcome.reason);
    }
    const error = ConnectError.from(refused[0]);
    const seen = await errorOf(Promise.reject(error));
    expect(seen).toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringContaining("its caller may make 5 requests in a second"),
      details: [{ reason: "QUOTA", facts: { quota: "requests", limit: "5" } }],
    });
    const waitMs = Number(seen.details[0]!.facts["retry_after_ms"]);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(1_000);
    expect(error.metadata.get("retry-after")).toBe("1");
    expect(await served(write)).toMatchObject({ points: 1n });
  });
});

/** Calls again after the time that a refusal names. */
async function served<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (thrown) {
      const { details } = await errorOf(Promise.reject(ConnectError.from(thrown)));
      if (details[0]?.reason !== "QUOTA") throw thrown;
      await wait(Number(details[0].facts["retry_after_ms"]));
    }
  }
}

describe("errors on every way", () => {
  const run = { alias: "target" };
  /** One for each code, and for each kind of detail. */
  const REFUSED: { what: string; code: string; call: (api: Clients) => Promise<unknown> }[] = [
    {
      what: "an invalid query",
      code: "InvalidArgument",
      call: ({ runs }) => runs.searchRuns({ query: "params.lr > 1 and and tags.x" }),
    },
    {
      what: "a param that is not JSON",
      code: "InvalidArgument",
      call: ({ metrics }) => metrics.writeEnvelope({ run, params: { "é☃": "{" } }),
    },
    {
      what: "an unknown run",
      code: "NotFound",
      call: ({ runs }) => runs.getRun({ run: { id: "f".repeat(32) } }),
    },
    {
      what: "a number used before",
      code: "AlreadyExists",
      call: ({ metrics }) => metrics.writeEnvelope({ run, writer: "w", seq: 1n, tags: { a: "b" } }),
    },
    {
      what: "a gap",
      code: "FailedPrecondition",
      call: ({ metrics }) => metrics.writeEnvelope({ run, writer: "w", seq: 9n }),
    },
    {
      what: "a name that is too long",
      code: "ResourceExhausted",
      call: ({ metrics }) => metrics.writeEnvelope({ run, writer: "é".repeat(257), seq: 1n }),
    },
  ];

  it.each(REFUSED)("W2, W6 $what is refused alike, with $code", async ({ code, call }) => {
    let first: Outcome | undefined;
    for (const way of WAYS) {
      const api = open(way);
      await api.runs.createRun({ namespace: "errors", aliases: ["target"], getOrCreate: true });
      await api.metrics.writeEnvelope({ run, writer: "w", seq: 1n });
      const error = await errorOf(call(api));
      expect(error, way.name).toMatchObject({ code, details: [{}] });
      first ??= error;
      expect(error, way.name).toEqual(first);
    }
  });
});

describe.each(WAYS.filter(({ duplex }) => duplex))("$name, both sides at once", (way) => {
  it("W1, W2, W6 acknowledges one by one while the stream is open, and an error ends it", async () => {
    const { runs, metrics } = open(way);
    const { run } = await runs.createRun({});
    const { id } = run!;
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* sent(): AsyncGenerator<EnvelopeInit> {
      yield numbered(id, 1);
      await next[0]!.promise;
      yield numbered(id, 2);
      await next[1]!.promise;
      yield numbered(id, 9);
    }
    const acks: bigint[] = [];
    const error = await errorOf(
      (async () => {
        for await (const { seq } of metrics.streamEnvelopes(sent())) next[acks.push(seq) - 1]!.resolve();
      })(),
    );
    expect(acks).toEqual([1n, 2n]);
    expect(error).toMatchObject({ code: "FailedPrecondition", details: [{ reason: "SEQ_GAP" }] });
    expect(error).toEqual(await errorOf(metrics.writeEnvelope(numbered(id, 9))));
  });
});
