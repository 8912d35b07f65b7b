import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { Encoding, Form, SeriesKind, type EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { MatchOp } from "#proto/cairn/v1/series_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { TWO_WAYS, useWays } from "../testing/servers.ts";

type EnvelopeInit = MessageInitShape<typeof EnvelopeSchema>;

const open = useWays();
const EVERY = [{ op: MatchOp.REGEX, value: ".*" }];
const NOW = 1_767_225_600_000_000n;

describe.each(TWO_WAYS)("$name", (way) => {
  const host = () => ({ namespace: `fleet/${randomUUID()}`, name: "gpu-01.example" });
  const cpu = { key: "cpu", labels: { core: "0" }, timesUs: [NOW, NOW + 1n, NOW + 2n], values: [1, NaN, 3] };

  it("V15 V16 W1 writes a host, and reads, lists, counts and deletes its series", async () => {
    const { metrics, namespaces } = open(way);
    const named = host();
    const up = { key: "up", kind: SeriesKind.BOOL, timesUs: [NOW], bools: [true] };
    const ack = await metrics.writeEnvelope({ host: named, series: [cpu, up] });
    expect(ack).toMatchObject({ seq: 0n, duplicate: false, points: 4n });
    expect((await namespaces.getNamespace({ path: named.namespace })).path).toBe(named.namespace);

    const listed = await metrics.listSeries({ hosts: [named] });
    expect(listed.totalCount).toBe(2n);
    expect(listed.series).toMatchObject([
      { runId: "", host: named, key: "cpu", labels: { core: "0" }, summary: { count: 3n, nanCount: 1n } },
      { runId: "", host: named, key: "up" },
    ]);
    const { labels } = await metrics.listLabels({ hosts: [named], label: "core" });
    expect(labels).toMatchObject([{ text: "0", seriesCount: 1n }]);
    const { hosts } = await metrics.listHosts({ under: named.namespace });
    expect(hosts).toMatchObject([{ ...named, seriesCount: 2n }]);
    expect(Math.abs(Number(hosts[0]!.writtenUs) / 1000 - Date.now())).toBeLessThan(60_000);

    for (const encoding of [Encoding.NUMBERS, Encoding.BYTES]) {
      const read = await metrics.readSeries({
        series: [
          { host: named, key: "cpu", allLabels: true },
          { host: named, matchers: EVERY },
        ],
        encoding,
      });
      expect(read.series).toMatchObject([
        { runId: "", host: named, key: "cpu", form: Form.EXACT, pointCount: 3n },
        { runId: "", host: named, key: "up", kind: SeriesKind.BOOL },
      ]);
      const { numbers, bytes } = read.series[0]!.values!;
      const values = encoding === Encoding.NUMBERS ? numbers : [...new Float64Array(bytes.slice().buffer)];
      expect(values).toEqual([1, NaN, 3]);
    }
    const band = await metrics.readSeries({
      series: [{ host: named, key: "cpu", allLabels: true }],
      axis: 2,
      buckets: 1,
    });
    expect(band.series).toMatchObject([{ host: named, form: Form.BAND, pointCount: 3n }]);

    const part = await metrics.deleteSeries({ host: named, matchers: EVERY, byTime: true, to: NOW + 1n });
    expect(part).toMatchObject({ series: 2n, points: 3n });
    expect(await metrics.deleteSeries({ host: named, matchers: EVERY })).toMatchObject({
      series: 1n,
      points: 1n,
    });
    expect((await metrics.listHosts({ under: named.namespace })).hosts).toEqual([]);
    await namespaces.deleteNamespace({ path: named.namespace });
  });

  it("V18 lists hosts beside runs only where asked, and reads both in one answer", async () => {
    const { metrics, runs } = open(way);
    const named = host();
    const id = (await runs.createRun({ namespace: named.namespace })).run!.id;
    await metrics.writeEnvelope({ run: { id }, series: [{ key: "loss", steps: [1n], values: [2] }] });
    await metrics.writeEnvelope({ host: named, series: [cpu] });
    const keys = async (parts: { withHosts?: boolean }) =>
      (await metrics.listSeries({ under: named.namespace, ...parts })).series.map(({ key }) => key);
    expect(await keys({})).toEqual(["loss"]);
    expect(await keys({ withHosts: true })).toEqual(["loss", "cpu"]);
    const texts = async (parts: { withHosts?: boolean }) =>
      (await metrics.listLabels({ under: named.namespace, label: "", ...parts })).labels.map(
        ({ text }) => text,
      );
    expect(await texts({})).toEqual(["loss"]);
    expect(await texts({ withHosts: true })).toEqual(["cpu", "loss"]);
    const { series } = await metrics.readSeries({
      series: [
        { host: named, key: "cpu", allLabels: true },
        { run: { id }, key: "loss" },
      ],
    });
    expect(series.map(({ runId, host: of }) => [runId, of?.name])).toEqual([
      ["", named.name],
      [id, undefined],
    ]);
    expect((await runs.searchRuns({ namespace: named.namespace })).totalCount).toBe(1n);
  });

  it.each([
    ["a number", { writer: "w", seq: 1n }],
    ["a lost range", { writer: "w", seq: 2n, lost: [{ first: 1n, last: 1n }] }],
    ["params", { params: { lr: "1" } }],
    ["tags", { tags: { a: "b" } }],
    ["a status", { status: RunStatus.FINISHED }],
    ["a heartbeat", { heartbeatSeconds: 10 }],
    ["an end", { endedUs: NOW }],
    ["log lines", { log: [{ lines: ["x"] }] }],
    ["an artifact", { artifacts: [{ name: "a", uri: "s3://b/c" }] }],
    ["a run", { run: { id: "0".repeat(32) } }],
    ["no series", { series: [] }],
    ["no name", { host: { namespace: "fleet", name: "" } }],
    ["no namespace", { host: { name: "n" } }],
    ["a run as a namespace", { host: { namespace: `a/${"0".repeat(32)}`, name: "n" } }],
  ] as [string, EnvelopeInit][])("V17 refuses a host with %s, and stores nothing", async (_, parts) => {
    const { metrics } = open(way);
    const named = host();
    const error = await errorOf(metrics.writeEnvelope(Object.assign({ host: named, series: [cpu] }, parts)));
    expect(error).toMatchObject({ code: "InvalidArgument" });
    expect((await metrics.listHosts({ under: named.namespace })).hosts).toEqual([]);
  });

  it("V17 refuses to name a host and a run at once, hosts without a place, and too many of them", async () => {
    const { metrics, runs } = open(way);
    const named = host();
    await metrics.writeEnvelope({ host: named, series: [cpu] });
    const run = { id: (await runs.createRun({ namespace: named.namespace })).run!.id };
    const invalid = [
      metrics.readSeries({ series: [{ run, host: named, key: "cpu" }] }),
      metrics.readSeries({ series: [{ key: "cpu" }] }),
      metrics.readSeries({ series: [{ host: { namespace: "a", name: "" }, key: "cpu" }] }),
      metrics.deleteSeries({ run, host: named, matchers: EVERY }),
      metrics.listSeries({ run, hosts: [named] }),
      metrics.listSeries({ run, withHosts: true }),
      metrics.listLabels({ under: "", hosts: [named] }),
      metrics.listHosts({ pageToken: "?" }),
      metrics.listHosts({ under: "a//b" }),
    ];
    for (const call of invalid) expect(await errorOf(call)).toMatchObject({ code: "InvalidArgument" });
    const many = Array.from({ length: limits.selectRunsMax + 1 }, () => named);
    expect(await errorOf(metrics.listSeries({ hosts: many }))).toMatchObject({ code: "ResourceExhausted" });
    expect((await metrics.listSeries({ hosts: [named] })).totalCount).toBe(1n);
  });
});
