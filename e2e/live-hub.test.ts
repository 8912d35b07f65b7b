import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { Cairn } from "#sdk/client.ts";
import { useServer } from "#server/testing/servers.ts";
import { CuttableProxy } from "./cuttable-proxy.ts";
import { LiveHub } from "../web/src/data/live/hub.ts";
import type { LiveEvent, Subscription } from "../web/src/data/live/types.ts";

const server = useServer();

describe("the one stream of a browser", () => {
  let cairn: Cairn;
  let hub: LiveHub;
  let lastId = 0;

  beforeEach(() => {
    cairn = new Cairn({ url: server().listening.url });
    hub = new LiveHub(cairn, () => undefined);
  });
  afterEach(() => hub.close());

  /** Without positions, the first event is `stale`. */
  function listen(subscription: Subscription, ...since: string[]): LiveEvent[] {
    const events: LiveEvent[] = [];
    hub.add(++lastId, subscription, (event) => events.push(event), since);
    return events;
  }

  const view = (namespace: string, query = ""): Subscription => ({
    kind: "runs",
    namespace,
    query,
    columns: ["tags"],
  });
  const named = (events: readonly LiveEvent[]) =>
    events.flatMap((event) => (event.kind === "runs" ? event.runs.map(({ name }) => name) : []));
  const left = (events: readonly LiveEvent[]) =>
    events.flatMap((event) => (event.kind === "runs" ? event.left : []));

  async function standing(...all: LiveEvent[][]): Promise<void> {
    await expect.poll(() => hub.connection.state).toBe("live");
    // Where the shown answers have no position, views of runs and points read again as soon as the stream has begun.
    await expect.poll(() => all.every((events) => events.some(({ kind }) => kind === "stale"))).toBe(true);
  }

  it("Z71 every view gets its own runs in their latest state, and those that left it", async () => {
    const a = listen(view("hub/a"));
    const b = listen(view("hub/b", 'tags.keep = "yes" order by created'));
    const any = listen({ kind: "changes" });
    await standing(a, b, any);
    const { run: inA } = await cairn.runs.createRun({ namespace: "hub/a", name: "of a" });
    const { run: inB } = await cairn.runs.createRun({
      namespace: "hub/b",
      name: "of b",
      tags: { keep: "yes" },
    });
    await cairn.runs.createRun({ namespace: "hub/c", name: "of c" });
    await expect.poll(() => named(a)).toContain("of a");
    await expect.poll(() => named(b)).toContain("of b");
    await cairn.runs.updateRun({ run: { id: inB!.id }, tags: { keep: "no" } });
    await expect.poll(() => left(b)).toContain(inB!.id);
    expect(new Set(named(a))).toEqual(new Set(["of a"]));
    expect(new Set(named(b))).toEqual(new Set(["of b"]));
    expect(left(b)).toContain(inA!.id);
    expect(any.filter(({ kind }) => kind === "changes").length).toBeGreaterThan(0);
  });

  it.each(["the first stream", "a later stream"])(
    "Z71 changes between a read and %s are events, and nothing is read again",
    async (which) => {
      const namespace = `hub/${which.replaceAll(" ", "-")}`;
      if (which === "a later stream") await standing(listen({ kind: "changes" }));
      const { run: before } = await cairn.runs.createRun({ namespace, name: "before" });
      const { id } = before!;
      const { position: first } = await cairn.runs.searchRuns({ namespace });
      const { run: after } = await cairn.runs.createRun({ namespace, name: "after" });
      await cairn.metrics.writeEnvelope({ run: { id }, series: [{ key: "loss", steps: [1n], values: [1] }] });
      const { position: second } = await cairn.runs.searchRuns({ namespace });
      await cairn.runs.updateRun({ run: { id: after!.id }, name: "renamed" });
      const runs = listen(view(namespace), second, first);
      const changes = listen({ kind: "changes" }, second);
      const points = listen({ kind: "series", runIds: [id] }, first);
      await expect.poll(() => named(runs)).toContain("renamed");
      await expect.poll(() => changes.length).toBeGreaterThan(0);
      await expect.poll(() => points.map(({ kind }) => kind)).toEqual(["points"]);
      expect([...runs, ...changes].filter(({ kind }) => kind === "stale")).toEqual([]);
    },
  );

  it("Z71 without changes since the read, nothing has to be read again", async () => {
    const { run } = await cairn.runs.createRun({ namespace: "hub/calm" });
    const { id } = run!;
    await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["here"] }] });
    const readMs = Date.now();
    // Changes of some 20 ms before a read may come again.
    await expect.poll(() => Date.now()).toBeGreaterThan(readMs + 50);
    const { position } = await cairn.runs.searchRuns({ namespace: "hub/calm" });
    const calm = [listen(view("hub/calm"), position), listen({ kind: "series", runIds: [id] }, position)];
    const log = listen({ kind: "log", runId: id, from: 0n });
    // Its lines arrive only once the watch is open.
    await expect.poll(() => log.some(({ kind }) => kind === "lines")).toBe(true);
    expect(calm).toEqual([[], []]);
  });

  it("Z71 a view with more positions than a request holds is read again, the others are not", async () => {
    const positions = new Set<string>();
    while (positions.size <= limits.watchSinceMax) {
      positions.add((await cairn.runs.searchRuns({ pageSize: 1 })).position);
    }
    const [first, ...others] = positions;
    const few = listen(view("hub/few"), first!);
    const many = listen(view("hub/many"), ...others);
    await standing(many);
    await cairn.runs.createRun({ namespace: "hub/few", name: "new" });
    await expect.poll(() => named(few)).toContain("new");
    expect(few.filter(({ kind }) => kind === "stale")).toEqual([]);
  });

  it("Z71 a new view gets no runs of another view", async () => {
    const a = listen(view("hub/sole-a"));
    await standing(a);
    const b = listen(view("hub/sole-b"));
    await cairn.runs.createRun({ namespace: "hub/sole-a", name: "of a" });
    await expect.poll(() => named(a)).toContain("of a");
    await cairn.runs.createRun({ namespace: "hub/sole-b", name: "of b" });
    await expect.poll(() => named(b)).toContain("of b");
    expect(named(b)).not.toContain("of a");
  });

  it("Z71 points go to subscribers of the run, lines to each from its next one", async () => {
    const { run } = await cairn.runs.createRun({ namespace: "hub/points" });
    const { id } = run!;
    await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["zero", "one", "two"] }] });
    const all = listen({ kind: "series", runIds: [id] });
    const { run: other } = await cairn.runs.createRun({ namespace: "hub/points" });
    const none = listen({ kind: "series", runIds: [other!.id] });
    const log = listen({ kind: "log", runId: id, from: 0n });
    const tail = listen({ kind: "log", runId: id, from: 2n });
    await standing(all, none);
    await cairn.metrics.writeEnvelope({
      run: { id },
      series: [
        { key: "val/acc", steps: [1n], values: [0.5] },
        { key: "loss", steps: [1n], values: [2] },
      ],
      log: [{ lines: ["three"] }],
    });
    const keys = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === "points" ? event.series.map(({ key }) => key) : []));
    const lines = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === "lines" ? event.lines.map(({ text }) => text) : []));
    await expect.poll(() => keys(all).toSorted()).toEqual(["loss", "val/acc"]);
    await expect.poll(() => lines(log)).toEqual(["zero", "one", "two", "three"]);
    await expect.poll(() => lines(tail)).toEqual(["two", "three"]);
    // A later subscription changes nothing for earlier ones: no line and no point comes twice.
    const late = listen({ kind: "log", runId: id, from: 1n });
    await expect.poll(() => lines(late)).toEqual(["one", "two", "three"]);
    await cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "loss", steps: [2n], values: [1] }],
      log: [{ lines: ["four"] }],
    });
    await expect.poll(() => lines(log)).toEqual(["zero", "one", "two", "three", "four"]);
    await expect.poll(() => keys(all).toSorted()).toEqual(["loss", "loss", "val/acc"]);
    expect(lines(tail)).toEqual(["two", "three", "four"]);
    expect(keys(none)).toEqual([]);
  });

  it("Z71 a refused subscription gets the error, and the others continue", async () => {
    const good = listen(view("hub/good"));
    await standing(good);
    const unknown = listen({ kind: "series", runIds: ["0".repeat(32)] });
    const nonsense = listen(view("", "this is no query"));
    const other = listen(view("hub/other"));
    await expect.poll(() => unknown.at(-1)?.kind).toBe("refused");
    await expect.poll(() => nonsense.at(-1)?.kind).toBe("refused");
    await cairn.runs.createRun({ namespace: "hub/good", name: "still heard" });
    await cairn.runs.createRun({ namespace: "hub/other", name: "heard as well" });
    await expect.poll(() => named(good)).toContain("still heard");
    await expect.poll(() => named(other)).toContain("heard as well");
  });

  it("Z71 a run that is purged while watched does not end other subscriptions", async () => {
    const create = async (name: string) =>
      (await cairn.runs.createRun({ namespace: "hub/purged", name })).run!.id;
    const [purged, kept] = [await create("purged"), await create("kept")];
    await cairn.metrics.writeEnvelope({ run: { id: kept }, log: [{ lines: ["here"] }] });
    const both = listen({ kind: "series", runIds: [purged, kept] });
    const sole = listen({ kind: "log", runId: purged, from: 0n });
    const runs = listen(view("hub/purged"));
    await standing(both, runs);
    await cairn.runs.deleteRun({ run: { id: purged } });
    await cairn.runs.purgeRun({ run: { id: purged } });
    await expect.poll(() => left(runs)).toContain(purged);
    // A new subscription makes a new request, with a purged run in it.
    const later = listen({ kind: "series", runIds: [kept] });
    const last = listen({ kind: "log", runId: kept, from: 0n });
    await expect.poll(() => sole.at(-1)?.kind).toBe("refused");
    // Its lines arrive only once the watch is open again.
    await expect.poll(() => last.some(({ kind }) => kind === "lines")).toBe(true);
    await cairn.metrics.writeEnvelope({
      run: { id: kept },
      series: [{ key: "loss", steps: [1n], values: [1] }],
    });
    for (const events of [both, later]) {
      await expect.poll(() => events.some(({ kind }) => kind === "points")).toBe(true);
    }
    expect([both, later, last, runs].flat().filter(({ kind }) => kind === "refused")).toEqual([]);
  });

  it("Z71 resumes after a lost connection, also with new subscriptions: nothing is missing or sent twice", async () => {
    const proxy = await CuttableProxy.open(server().listening.url);
    hub.close();
    const states: string[] = [];
    hub = new LiveHub(new Cairn({ url: proxy.url }), ({ state }) => states.push(state));
    const { id } = (await cairn.runs.createRun({ namespace: "hub/lost" })).run!;
    const write = (step: number) =>
      cairn.metrics.writeEnvelope({
        run: { id },
        series: [{ key: "loss", steps: [BigInt(step)], values: [step] }],
        log: [{ lines: [`line ${step}`] }],
      });
    const steps = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === "points" ? event.series.flatMap((each) => each.values) : []));
    const lines = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === "lines" ? event.lines.map(({ text }) => text) : []));
    const points = listen({ kind: "series", runIds: [id] });
    const log = listen({ kind: "log", runId: id, from: 0n });
    await standing(points);
    await write(1);
    await expect.poll(() => steps(points)).toEqual([1]);
    await expect.poll(() => lines(log)).toEqual(["line 1"]);
    await proxy.cut();
    await expect.poll(() => hub.connection.state).toBe("lost");
    await write(2);
    const added = listen({ kind: "log", runId: id, from: 0n });
    const runs = listen(view("hub/lost"));
    await proxy.restore();
    await expect.poll(() => lines(added)).toEqual(["line 1", "line 2"]);
    await write(3);
    await cairn.runs.updateRun({ run: { id }, name: "renamed" });
    await expect.poll(() => named(runs)).toContain("renamed");
    await expect.poll(() => lines(log)).toEqual(["line 1", "line 2", "line 3"]);
    // What the server cannot say any more is read again.
    await expect.poll(() => steps(points).at(-1)).toBe(3);
    if (!steps(points).includes(2)) expect(points.filter(({ kind }) => kind === "stale").length).toBe(2);
    expect(new Set(steps(points)).size).toBe(steps(points).length);
    expect(states.filter((state, i) => state !== states[i - 1])).toEqual(["live", "lost", "live"]);
    hub.close();
    await proxy.cut();
  });
});
