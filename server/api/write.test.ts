import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  Encoding,
  Form,
  SeriesKind,
  type EnvelopeSchema,
  type SeriesData,
} from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS, type WayIn } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

const open = useWays();

async function newRun({ runs }: WayIn, namespace = "write"): Promise<string> {
  const { run } = await runs.createRun({ namespace });
  return run!.id;
}

async function read({ metrics }: WayIn, id: string, key: string): Promise<SeriesData> {
  const { series } = await metrics.readSeries({ series: [{ run: { id }, key }], encoding: Encoding.NUMBERS });
  return series[0]!;
}

function points(key: string, values: number[], steps: number[]): NonNullable<EnvelopeInit["series"]>[number] {
  return { key, values, steps: steps.map(BigInt) };
}

describe.each(TWO_WAYS)("$name", (way) => {
  it("D4, W1 acknowledged data is in the next read, list, search and count", async () => {
    const api = open(way);
    const { runs, metrics, namespaces, system } = api;
    const namespace = `d4/${randomUUID()}`;
    const before = await system.getInfo({});
    for (let i = 1; i <= 5; i++) {
      const { run } = await runs.createRun({ namespace, tags: { round: String(i) } });
      const id = run!.id;
      const ack = await metrics.writeEnvelope({
        run: { id },
        writer: "w",
        seq: 1n,
        series: [points("loss", [1 / i], [1])],
        params: { lr: `${i}.0` },
      });
      expect(ack).toMatchObject({ seq: 1n, duplicate: false, points: 1n });
      expect((await read(api, id, "loss")).values!.numbers).toEqual([1 / i]);
      expect(await metrics.listSeries({ run: { id } })).toMatchObject({
        totalCount: 1n,
        series: [{ key: "loss", summary: { count: 1n, sum: 1 / i } }],
      });
      const found = await runs.searchRuns({
        query: `metrics.loss.min <= ${1 / i} and params.lr = ${i}`,
        namespace,
        columns: ["params", "metrics.loss.last"],
      });
      expect(found.runs.map((one) => one.id)).toEqual([id]);
      expect(found.runs[0]).toMatchObject({ params: { lr: `${i}.0` }, metrics: { "loss.last": 1 / i } });
      expect((await runs.searchRuns({ namespace })).totalCount).toBe(BigInt(i));
      expect((await namespaces.getNamespace({ path: namespace })).runCount).toBe(BigInt(i));
      expect((await runs.getRun({ run: { id } })).params).toEqual({ lr: `${i}.0` });
    }
    const after = await system.getInfo({});
    expect([after.runCount - before.runCount, after.pointCount - before.pointCount]).toEqual([5n, 5n]);
  });

  it("E2, W2 a number with the same content is acknowledged again and changes nothing", async () => {
    const api = open(way);
    const id = await newRun(api);
    const envelope: EnvelopeInit = {
      run: { id },
      writer: "w",
      seq: 1n,
      series: [points("a", [1, 2], [1, 2])],
      params: { x: "1" },
      tags: { t: "v" },
    };
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({
      seq: 1n,
      duplicate: false,
      points: 2n,
    });
    expect(await api.metrics.writeEnvelope(envelope)).toMatchObject({ seq: 1n, duplicate: true, points: 2n });
    const reordered = { ...envelope, params: { x: "1" }, run: { id } };
    expect(await api.metrics.writeEnvelope(reordered)).toMatchObject({ duplicate: true });
    expect((await read(api, id, "a")).pointCount).toBe(2n);
  });

  it("E3, W6 a number with other content is refused and changes nothing", async () => {
    const api = open(way);
    const id = await newRun(api);
    const base: EnvelopeInit = { run: { id }, writer: "w", seq: 1n, series: [points("a", [1], [1])] };
    await api.metrics.writeEnvelope(base);
    const error = await errorOf(api.metrics.writeEnvelope({ ...base, series: [points("a", [2], [1])] }));
    expect(error).toMatchObject({ code: "AlreadyExists", details: [{ reason: "SEQ_REUSED" }] });
    expect((await read(api, id, "a")).values!.numbers).toEqual([1]);
  });

  it("E4, W6 a number too far ahead is refused with the expected one and changes nothing", async () => {
    const api = open(way);
    const id = await newRun(api);
    const error = await errorOf(
      api.metrics.writeEnvelope({ run: { id }, writer: "w", seq: 3n, series: [points("a", [1], [1])] }),
    );
    expect(error).toMatchObject({
      code: "FailedPrecondition",
      details: [{ reason: "SEQ_GAP", facts: { expected: "1" } }],
    });
    expect((await api.metrics.listSeries({ run: { id } })).series).toEqual([]);
  });

  it("E5, E9 numbers declared lost are stored, shown by verify, and the next is accepted", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({ run: { id }, writer: "w", seq: 1n, series: [points("a", [1], [1])] });
    await api.metrics.writeEnvelope({
      run: { id },
      writer: "w",
      seq: 5n,
      lost: [{ first: 2n, last: 4n }],
      series: [points("a", [5], [5])],
    });
    await api.metrics.writeEnvelope({ run: { id }, series: [points("a", [6], [6])] });
    const verified = await api.system.verifyRun({ run: { id } });
    expect(verified).toMatchObject({
      runId: id,
      points: 3n,
      unnumberedEnvelopes: 1n,
      problems: [],
      verdict: "2 of 5 envelopes, 3 declared lost, 0 gaps",
      writers: [{ writer: "w", envelopes: 2n, lastSeq: 5n, lost: [{ first: 2n, last: 4n }], gaps: [] }],
    });
  });

  it("E6 nothing of an envelope is stored when any part of it is refused", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({ run: { id }, series: [points("a", [1], [1])] });
    const error = await errorOf(
      api.metrics.writeEnvelope({
        run: { id },
        writer: "w",
        seq: 1n,
        status: RunStatus.FINISHED,
        params: { p: "1" },
        series: [points("fresh", [1], [1]), { key: "a", kind: SeriesKind.TEXT, texts: ["x"] }],
      }),
    );
    expect(error).toMatchObject({ code: "InvalidArgument", details: [{ reason: "KIND_MISMATCH" }] });
    expect(await api.runs.getRun({ run: { id } })).toMatchObject({ status: RunStatus.RUNNING, params: {} });
    expect((await api.metrics.listSeries({ run: { id } })).totalCount).toBe(1n);
    expect((await api.system.verifyRun({ run: { id } })).writers).toEqual([]);
  });

  it("V3 steps and times up to 2^53 are exact, above they are refused", async () => {
    const api = open(way);
    const id = await newRun(api);
    const edge = 2n ** 53n;
    const steps = [-edge, -edge + 1n, 0n, edge - 1n, edge];
    const values = steps.map(Number);
    await api.metrics.writeEnvelope({ run: { id }, series: [{ key: "v", values, steps, timesUs: steps }] });
    const data = await read(api, id, "v");
    expect(data.steps!.numbers).toEqual(values);
    expect(data.timesUs!.numbers).toEqual(values);
    for (const bad of [edge + 1n, -edge - 1n, 2n ** 63n - 1n]) {
      for (const column of [{ steps: [bad] }, { timesUs: [bad] }]) {
        const error = await errorOf(
          api.metrics.writeEnvelope({ run: { id }, series: [{ key: "v", values: [1], ...column }] }),
        );
        expect(error).toMatchObject({ code: "InvalidArgument", details: [{ reason: "UNSAFE_INTEGER" }] });
      }
    }
  });

  it("V4, V5 a point may lack its step or time; nanoseconds are kept", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({
      run: { id },
      series: [
        { key: "bare", values: [1, 2] },
        { key: "timed", values: [1, 2], timesUs: [10n, 20n], nanos: [0, 999] },
        { key: "stepped", values: [1], steps: [7n] },
      ],
    });
    await api.metrics.writeEnvelope({ run: { id }, series: [{ key: "stepped", values: [2] }] });
    const bare = await read(api, id, "bare");
    expect([bare.steps, bare.timesUs, bare.nanos]).toEqual([undefined, undefined, undefined]);
    const timed = await read(api, id, "timed");
    expect([timed.timesUs!.numbers, timed.nanos!.numbers]).toEqual([
      [10, 20],
      [0, 999],
    ]);
    const stepped = await read(api, id, "stepped");
    expect(stepped.values!.numbers).toHaveLength(2);
    expect(stepped.steps!.numbers.filter((step) => !Number.isNaN(step))).toEqual([7]);
  });

  it("V6 a series keeps the kind of its first point", async () => {
    const api = open(way);
    const id = await newRun(api);
    await api.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "k", kind: SeriesKind.BOOL, bools: [true] }],
    });
    for (const other of [
      { values: [1] },
      { kind: SeriesKind.INTEGER, integers: [1n] },
      { kind: SeriesKind.TEXT, texts: ["x"] },
    ]) {
      const error = await errorOf(
        api.metrics.writeEnvelope({ run: { id }, series: [{ key: "k", ...other }] }),
      );
      expect(error).toMatchObject({ code: "InvalidArgument", details: [{ reason: "KIND_MISMATCH" }] });
    }
    expect((await read(api, id, "k")).pointCount).toBe(1n);
  });

  it("V8 params keep their JSON text", async () => {
    const api = open(way);
    const id = await newRun(api);
    const params = { a: "1", b: "1.0", c: "9007199254740993", d: "NaN", e: '"x"', f: "null" };
    await api.metrics.writeEnvelope({ run: { id }, params: { ...params, g: '{ "y" : [1, 2.50] }' } });
    expect((await api.runs.getRun({ run: { id } })).params).toMatchObject(params);
  });

  it("P1 a read reports whether it is exact or a band and how many points it covers", async () => {
    const api = open(way);
    const id = await newRun(api);
    const steps = Array.from({ length: 1000 }, (_, i) => i);
    await api.metrics.writeEnvelope({ run: { id }, series: [points("p", steps.map(Math.sin), steps)] });
    const selector = { run: { id }, key: "p" };
    const exact = await api.metrics.readSeries({ series: [selector], buckets: 1000 });
    expect(exact.series[0]).toMatchObject({ form: Form.EXACT, pointCount: 1000n });
    const { series, gridWidth } = await api.metrics.readSeries({
      series: [selector],
      buckets: 10,
      from: 100n,
      to: 299n,
      encoding: Encoding.NUMBERS,
    });
    expect(series[0]).toMatchObject({ form: Form.BAND, pointCount: 200n });
    expect(series[0]!.count!.numbers.reduce((a, b) => a + b)).toBe(200);
    expect(gridWidth).toBeGreaterThan(0);
  });
});
