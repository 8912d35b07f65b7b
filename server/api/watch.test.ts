import { describe, expect, it } from "vitest";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { startServer, useWays, TWO_WAYS, WAYS } from "../testing/servers.ts";
import { Watching } from "../testing/watching.ts";

const open = useWays();

describe.each(TWO_WAYS)("$name", (way) => {
  it("H1, H2 matching runs are sent, runs that stop matching are sent as left", async () => {
    const { runs, watch, metrics } = open(way);
    const namespace = `h1-${TWO_WAYS.indexOf(way)}`;
    const watching = await Watching.open(watch, {
      runs: { query: 'tags.team = "asr"', namespace, columns: ["params", "metrics.loss.min"] },
    });
    const { run } = await runs.createRun({
      namespace,
      name: "first",
      tags: { team: "asr" },
      params: { lr: "1.0" },
    });
    const id = run!.id;
    const made = await watching.next("runs");
    expect(made.runs).toMatchObject([{ id, namespace, name: "first", params: { lr: "1.0" }, metrics: {} }]);
    expect(made.left).toEqual([]);
    await metrics.writeEnvelope({ run: { id }, series: [{ key: "loss", values: [3, 1, 2] }] });
    expect((await watching.next("runs")).runs).toMatchObject([{ id, metrics: { "loss.min": 1 } }]);
    await runs.updateRun({ run: { id }, status: RunStatus.FINISHED });
    expect((await watching.next("runs")).runs).toMatchObject([{ id, status: RunStatus.FINISHED }]);
    await runs.updateRun({ run: { id }, tags: { team: "mt" } });
    expect(await watching.next("runs")).toMatchObject({ runs: [], left: [id] });
    await runs.updateRun({ run: { id }, tags: { team: "asr" } });
    expect((await watching.next("runs")).runs).toMatchObject([{ id }]);
    await runs.deleteRun({ run: { id } });
    expect(await watching.next("runs")).toMatchObject({ runs: [], left: [id] });
    await runs.restoreRun({ run: { id } });
    expect((await watching.next("runs")).runs).toMatchObject([{ id }]);
    await runs.deleteRun({ run: { id } });
    expect(await watching.next("runs")).toMatchObject({ runs: [], left: [id] });
    await runs.purgeRun({ run: { id } });
    expect(await watching.next("runs")).toMatchObject({ runs: [], left: [id] });
    watching.stop();
  });

  it("H3 points and lines are sent as they were logged", async () => {
    const { runs, watch, metrics } = open(way);
    const namespace = `h3-${TWO_WAYS.indexOf(way)}`;
    const { run } = await runs.createRun({ namespace, aliases: ["job"] });
    const { id } = run!;
    const watching = await Watching.open(watch, {
      series: [{ run: { alias: "job", namespace }, glob: "train/*" }],
      logs: [{ run: { path: `${namespace}/${id}` } }],
    });
    expect(await watching.next("lines")).toMatchObject({ runId: id, lines: [], next: 0n });
    const sent = [
      {
        key: "train/loss",
        labels: { rank: "3" },
        steps: [1n, -5n, 2n ** 53n],
        timesUs: [10n, 20n, 30n],
        values: [Number.NaN, Number.NEGATIVE_INFINITY, 0.1],
        nanos: [1, 2, 999],
      },
      { key: "train/count", kind: SeriesKind.INTEGER, integers: [-(2n ** 63n), 2n ** 63n - 1n] },
      { key: "train/ok", kind: SeriesKind.BOOL, bools: [true, false], steps: [0n, 1n] },
      { key: "train/said", kind: SeriesKind.TEXT, texts: ["é\u0000", ""] },
    ];
    await metrics.writeEnvelope({
      run: { id },
      series: [...sent, { key: "val/loss", values: [1] }],
      log: [{ lines: ["first", "second"], timesUs: [5n, 6n], stream: "stderr", rank: 0 }],
    });
    const points = await watching.next("points");
    expect(points.runId).toBe(id);
    expect(points.series).toMatchObject([{ kind: SeriesKind.NUMBER, ...sent[0] }, ...sent.slice(1)]);
    expect(points.series.map(({ key }) => key)).toEqual(sent.map(({ key }) => key));
    expect(await watching.next("lines")).toMatchObject({
      runId: id,
      lines: [
        { number: 0n, text: "first", timeUs: 5n, stream: "stderr", rank: 0 },
        { number: 1n, text: "second", timeUs: 6n, stream: "stderr", rank: 0 },
      ],
      next: 2n,
    });
    watching.stop();
  });

  it("H4 resumes after the connection was lost", async () => {
    const { runs, watch, metrics } = open(way);
    const { run } = await runs.createRun({ namespace: `h4-${TWO_WAYS.indexOf(way)}` });
    const { id } = run!;
    const request = { series: [{ run: { id } }], logs: [{ run: { id }, from: 0n }] };
    let watching = await Watching.open(watch, request);
    let next = 0n;
    const values: number[] = [];
    const texts: string[] = [];
    for (let i = 0; i < 12; i++) {
      await metrics.writeEnvelope({
        run: { id },
        series: [{ key: "k", values: [i] }],
        log: [{ lines: [`line ${i}`] }],
      });
      if (i % 3 === 2) {
        // Data in flight is lost.
        watching.stop();
        watching = await Watching.open(watch, {
          ...request,
          logs: [{ run: { id }, from: next }],
          position: watching.position,
        });
      }
      if (i % 4 === 0) continue;
      const { event } = await watching.any();
      if (event.case === "points") values.push(...event.value.series[0]!.values);
      else if (event.case === "lines") {
        texts.push(...event.value.lines.map(({ text }) => text));
        ({ next } = event.value);
      } else throw new Error(`unexpected ${event.case}`);
    }
    while (values.length < 12 || texts.length < 12) {
      const { event } = await watching.any();
      if (event.case === "points") values.push(...event.value.series[0]!.values);
      else if (event.case === "lines") texts.push(...event.value.lines.map(({ text }) => text));
      else throw new Error(`unexpected ${event.case}`);
    }
    expect(values).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(texts).toEqual(Array.from({ length: 12 }, (_, i) => `line ${i}`));
    watching.stop();
  });

  it("H9, W6 invalid watches are refused by name", async () => {
    const { watch } = open(way);
    const refused = (request: object) => errorOf(new Watching(watch, request).any());
    expect(await refused({})).toMatchObject({ code: "InvalidArgument" });
    expect(await refused({ runs: { query: "metrics.loss <" } })).toMatchObject({ code: "InvalidArgument" });
    expect(await refused({ runs: {}, position: "there" })).toMatchObject({ code: "InvalidArgument" });
    expect(await refused({ series: [{ run: { id: "0".repeat(32) } }] })).toMatchObject({ code: "NotFound" });
    expect(
      await refused({ logs: Array.from({ length: 1_001 }, () => ({ run: { id: "x" } })) }),
    ).toMatchObject({ code: "ResourceExhausted", details: [{ reason: "LIMIT_EXCEEDED" }] });
  });
});

it("H10, B2 open watches are notified when the server stops, and do not delay it", async () => {
  // A server that waited for its clients would not stop before the test ends.
  const server = await startServer([], { closeRequestsMs: 600_000 });
  const { url } = server.listening;
  const clients = WAYS.filter((way) => way.server === "fast").map((way) => clientsOf(way.transport(url)));
  const ended: Promise<unknown>[] = [];
  for (const { watch } of clients) {
    const watching = await Watching.open(watch, { runs: {} });
    ended.push(errorOf(watching.any()));
  }
  const closed = server.close();
  for (const error of await Promise.all(ended)) expect(error).toMatchObject({ code: "Unavailable" });
  await closed;
});
