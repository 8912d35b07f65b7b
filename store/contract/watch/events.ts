import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { WatchEvent } from "#core/watch/event.ts";
import { Watches } from "#core/watch/watches.ts";
import { buildCore, CALLER } from "../core-under-test.ts";
import { ListSearch } from "../list-search.ts";
import { numbers, points, refused, useStores, type OpenStores } from "../stores.ts";
import {
  ALL_RUNS,
  flat,
  lines,
  logOf,
  makeRun,
  READER,
  seriesOf,
  touch,
  watchRequest,
  WatchReader,
  write,
} from "./reader.ts";

export function watchEventsContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });

  it("H1 notifies first that it has started, and of no earlier changes", async () => {
    const built = await core();
    await makeRun(built);
    const reader = await WatchReader.open(built, { runs: ALL_RUNS });
    const id = await makeRun(built);
    const { runs, left } = await reader.next("runs");
    expect(runs.map(({ run }) => run.id)).toEqual([id]);
    expect(left).toEqual([]);
    await reader.leave();
  });

  it("H1 notifies of runs that are lost by missing heartbeats", async () => {
    const built = await core();
    const id = await makeRun(built);
    await built.runs.update(CALLER, { by: "id", id }, { heartbeatSeconds: 1 });
    const reader = await WatchReader.open(built, { runs: { ...ALL_RUNS, query: 'status = "running"' } });
    built.clock.us += 4_000_000;
    expect(await built.runs.expireHeartbeats()).toBe(1);
    expect(await reader.next("runs")).toMatchObject({ runs: [], left: [id] });
    await reader.leave();
  });

  it("H2 does not notify of other namespaces, and of points only where metrics matter", async () => {
    const built = await core();
    const [inside, outside] = [await makeRun(built, "lab/a"), await makeRun(built, "labs")];
    const here = { ...ALL_RUNS, namespace: "lab" };
    const plain = await WatchReader.open(built, { runs: here });
    const ranked = await WatchReader.open(built, { runs: { ...here, query: "metrics.loss.last < 5" } });
    await write(built, outside, { series: [numbers("loss", [1])] });
    await touch(built, outside, "x", "1");
    await write(built, inside, { series: [numbers("loss", [9])] });
    expect(await ranked.next("runs")).toMatchObject({ runs: [], left: [inside] });
    await write(built, inside, { series: [numbers("loss", [1], 1)] });
    expect((await ranked.next("runs")).runs.map(({ run }) => run.id)).toEqual([inside]);
    await touch(built, inside, "x", "1");
    const { runs } = await plain.next("runs");
    expect(runs.map(({ run }) => [run.id, run.tags.get("x")])).toEqual([[inside, "1"]]);
    await Promise.all([plain.leave(), ranked.leave()]);
  });

  it("H3 sends points in order of arrival: every kind, bit for bit, only of the requested keys", async () => {
    const built = await core();
    const id = await makeRun(built);
    const other = await makeRun(built);
    const reader = await WatchReader.open(built, {
      series: [seriesOf(id, "train/*"), seriesOf(id, "count")],
    });
    const odd = [Number.NaN, -0, Infinity, -Infinity, 5e-324, 0.1];
    await write(built, other, { series: [numbers("train/loss", [1])] });
    await write(built, id, {
      series: [
        {
          key: "train/loss",
          labels: [["rank", "3"]],
          points: points(
            { kind: "number", data: Float64Array.from(odd) },
            {
              steps: Float64Array.from(odd, (_, i) => i - 2),
              times: Float64Array.from(odd, (_, i) => 2 ** 53 - i),
              nanos: Uint16Array.from(odd, (_, i) => i),
            },
          ),
        },
        { key: "train/note", labels: [], points: points({ kind: "text", data: ["é", "\u0000"] }) },
        {
          key: "count",
          labels: [],
          points: points({ kind: "integer", data: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n) }),
        },
        { key: "train/ok", labels: [], points: points({ kind: "bool", data: Uint8Array.of(1, 0) }) },
        numbers("val/loss", [7]),
      ],
    });
    const { runId, series } = await reader.next("points");
    expect(runId).toBe(id);
    const labels = [["rank", "3"]];
    const bare = { labels: [], step: undefined, time: undefined, nano: undefined };
    expect(flat(series)).toEqual([
      ...odd.map((value, i) => ({
        key: "train/loss",
        labels,
        step: i - 2,
        time: 2 ** 53 - i,
        nano: i,
        value,
      })),
      { key: "train/note", ...bare, value: "é" },
      { key: "train/note", ...bare, value: "\u0000" },
      { key: "count", ...bare, value: -(2n ** 63n) },
      { key: "count", ...bare, value: 2n ** 63n - 1n },
      { key: "train/ok", ...bare, value: 1 },
      { key: "train/ok", ...bare, value: 0 },
    ]);
    expect(Object.is(flat(series)[1]!.value, -0)).toBe(true);
    await reader.leave();
  });

  it("H3 keeps the points of one series together and in order, however many envelopes brought them", async () => {
    const built = await core();
    const id = await makeRun(built);
    const reader = await WatchReader.open(built, { series: [seriesOf(id)] });
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        write(built, id, { writer: `w${i % 3}`, seq: 1 + Math.floor(i / 3), series: [numbers("a", [i], i)] }),
      ),
    );
    const values: unknown[] = [];
    while (values.length < 200) {
      values.push(...flat((await reader.next("points")).series).map(({ value }) => value));
    }
    expect(values).toEqual(Array.from({ length: 200 }, (_, i) => i));
    await reader.leave();
  });

  it("H3 sends lines by number: from the requested one, or only new ones", async () => {
    const built = await core();
    const id = await makeRun(built);
    await write(built, id, { log: lines("zero", "one") });
    const reader = await WatchReader.open(built, {
      logs: [logOf(id, 1), logOf(id), logOf(id, 0, { stream: "stderr" })],
    });
    expect(await reader.next("lines")).toMatchObject({ runId: id, lines: [], next: 2 });
    expect(await reader.next("lines")).toMatchObject({ lines: [{ number: 1, text: "one" }], next: 2 });
    await write(built, id, { log: lines("two") });
    await write(built, id, { log: lines("three\nfour") });
    const seen: [number, string][][] = [[], []];
    while (seen.some((texts) => texts.length < 2)) {
      const received = (await reader.next("lines")).lines.map(({ number, text }): [number, string] => [
        number,
        text,
      ]);
      seen.find((texts) => (texts.at(-1)?.[0] ?? 1) < received[0]![0])!.push(...received);
    }
    const expected = [
      [2, "two"],
      [3, "three\nfour"],
    ];
    expect(seen).toEqual([expected, expected]);
    await reader.leave();
  });

  it("H9 refuses too many, empty and unknown requests", async () => {
    const built = await core();
    const id = await makeRun(built);
    const wrong: [Parameters<typeof watchRequest>[0], unknown][] = [
      [{}, refused("invalid")],
      [
        { series: Array.from({ length: limits.watchSeriesMax + 1 }, () => seriesOf(id)) },
        refused("exhausted", "LIMIT_EXCEEDED"),
      ],
      [
        { logs: Array.from({ length: limits.watchLogsMax + 1 }, () => logOf(id)) },
        refused("exhausted", "LIMIT_EXCEEDED"),
      ],
      [{ runs: { ...ALL_RUNS, query: "metrics.loss <" } }, refused("invalid")],
      [{ runs: { ...ALL_RUNS, columns: ["nonsense"] } }, refused("invalid")],
      [{ series: [seriesOf("0".repeat(32))] }, refused("not-found")],
      [{ logs: [logOf("0".repeat(32))] }, refused("not-found")],
    ];
    for (const [request, error] of wrong) {
      await expect(new WatchReader(built, request ?? {}).any()).rejects.toEqual(error);
    }
    expect(built.watches.counts).toMatchObject({ watchers: 0, watchedRuns: 0 });
  });

  it("H9 refuses one too many for now, and accepts it once another has ended", async () => {
    const built = await core();
    const ids = [await makeRun(built), await makeRun(built)];
    const { runs: store, logs, feed } = bench.under;
    const watches = new Watches({
      ...built,
      store,
      search: new ListSearch(feed),
      logs,
      watchersMax: 2,
      watchedRunsMax: 3,
    });
    const small = { ...built, watches };
    const both = await WatchReader.open(small, { series: ids.map((id) => seriesOf(id)) });
    const tooMany = expect.objectContaining({
      code: "exhausted",
      reason: "LIMIT_EXCEEDED",
      retryAfterMs: 5_000,
    });
    const again = new WatchReader(small, { logs: ids.map((id) => logOf(id)) });
    await expect(again.any()).rejects.toEqual(tooMany);
    const second = await WatchReader.open(small, { runs: ALL_RUNS });
    await expect(new WatchReader(small, { runs: ALL_RUNS }).any()).rejects.toEqual(tooMany);
    expect(watches.counts).toMatchObject({ watchers: 2, watchedRuns: 2 });
    await both.leave();
    await (await WatchReader.open(small, { runs: ALL_RUNS })).leave();
    await second.leave();
    expect(watches.counts).toMatchObject({ watchers: 0, watchedRuns: 0 });
  });

  it("H9 releases the resources of a watcher, however it ends", async () => {
    const built = await core();
    const id = await makeRun(built);
    const request = { runs: ALL_RUNS, series: [seriesOf(id)], logs: [logOf(id)] };
    const [leaves, asks, vanishes] = await Promise.all([1, 2, 3].map(() => WatchReader.open(built, request)));
    expect(built.watches.counts).toMatchObject({ watchers: 3, watchedRuns: 3 });
    await leaves!.leave();
    expect(built.watches.counts.watchers).toBe(2);
    await asks!.leaveAsking();
    expect(built.watches.counts.watchers).toBe(1);
    vanishes!.vanish();
    expect(built.watches.counts).toMatchObject({ watchers: 0, watchedRuns: 0 });
    await built.runs.delete(CALLER, { by: "id", id });
  });

  it("H10 sends keep-alives when idle, from whose position it can resume", async () => {
    const built = await core();
    const id = await makeRun(built);
    const { runs, changes, clock, follower } = built;
    const { runs: store, logs, feed } = bench.under;
    const search = new ListSearch(feed);
    const watches = new Watches({ store, search, logs, runs, changes, clock, follower, stillMs: 5 });
    const stop = new AbortController();
    const watch = (position: string) =>
      watches.watch(READER, watchRequest({ runs: ALL_RUNS, series: [seriesOf(id)], position }), stop.signal);
    const silent = watch("");
    expect((await silent.next()).value).toMatchObject({ kind: "started" });
    await write(built, id, { log: lines("without a watcher") });
    const still = (await silent.next()).value as WatchEvent;
    expect(still.kind).toBe("still");
    expect((await silent.next()).value).toMatchObject({ kind: "still" });
    await touch(built, id, "x", "1");
    const again = watch(still.position);
    await again.next();
    expect((await again.next()).value).toMatchObject({ kind: "runs", runs: [{ run: { id } }] });
    stop.abort();
    await Promise.all([silent, again].map((events) => events.return(undefined)));
  });

  it("H10 notifies all watchers when the server stops", async () => {
    const built = await core();
    const id = await makeRun(built);
    const everything = await WatchReader.open(built, { runs: ALL_RUNS });
    const one = await WatchReader.open(built, { series: [seriesOf(id)] });
    const ended = [everything.any(), one.any()].map((event) =>
      expect(event).rejects.toEqual(refused("unavailable", "STOPPING")),
    );
    await built.close();
    await Promise.all(ended);
    const late = built.watches.watch(READER, watchRequest({ runs: ALL_RUNS }), new AbortController().signal);
    await late.next();
    await expect(late.next()).rejects.toEqual(refused("unavailable", "STOPPING"));
  });
}
