import { expect, it } from "vitest";
import type { ChangesOptions } from "#core/watch/changes.ts";
import { buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

export function watchBehindContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  const core = (options: ChangesOptions = {}): Promise<CoreUnderTest> =>
    buildCore(bench.under, { waveMs: 1, ...options });

  it("H5 a watcher that missed more runs than are remembered is notified of that, and then of new changes", async () => {
    const built = await core({ runsMax: 8 });
    const reader = await WatchReader.open(built, { runs: ALL_RUNS });
    const { position } = reader;
    await reader.leave();
    for (let i = 0; i < 9; i++) await makeRun(built);
    const again = await WatchReader.open(built, { runs: ALL_RUNS, position });
    expect(built.changes.size).toBe(8);
    expect(await again.next("behind")).toMatchObject({ what: ["runs"] });
    const id = await makeRun(built);
    expect((await again.next("runs")).runs.map(({ run }) => run.id)).toEqual([id]);
    await again.leave();
  });

  it("H5 points that were not read in time are dropped, and the watcher is notified", async () => {
    const pointBytesMax = 100_000;
    const built = await core({ pointBytesMax });
    const id = await makeRun(built);
    const slow = await WatchReader.open(built, { series: [seriesOf(id)] });
    for (let i = 0; i < 100; i++) {
      await write(built, id, {
        series: [
          numbers(
            "a",
            Array.from({ length: 500 }, (_, n) => n),
            500 * i,
          ),
        ],
      });
      expect(built.watches.counts.heldBytes).toBeLessThanOrEqual(pointBytesMax);
    }
    expect(built.watches.counts.heldBytes).toBeGreaterThan(pointBytesMax / 2);
    // They are no longer in the journal either.
    await bench.under.settle();
    expect(await slow.next("behind")).toMatchObject({ what: ["series"] });
    await write(built, id, { series: [numbers("b", [1])] });
    expect(flat((await slow.next("points")).series).map(({ key }) => key)).toEqual(["b"]);
    await slow.leave();
  });

  it("V14 a watcher of a run reads its series again when points are deleted", async () => {
    const built = await core();
    const id = await makeRun(built);
    const reader = await WatchReader.open(built, { series: [seriesOf(id)] });
    await write(built, id, { series: [numbers("loss", [1, 2, 3])] });
    expect(flat((await reader.next("points")).series)).toHaveLength(3);
    const { position } = reader;
    const matchers = [{ label: "", op: "=", value: "loss" } as const];
    const range = { axis: "step", from: 1, to: 1 } as const;
    const run = { by: "id", id } as const;
    await built.metrics.delete({ ...CALLER, permission: "maintain" }, { run, matchers, ...range });
    expect(await reader.next("behind")).toMatchObject({ what: ["series"] });
    await write(built, id, { series: [numbers("loss", [4], 3)] });
    expect(flat((await reader.next("points")).series)).toHaveLength(1);
    await reader.leave();
    const later = await WatchReader.open(await core(), { series: [seriesOf(id)], position });
    expect(await later.next("behind")).toMatchObject({ what: ["series"] });
    await later.leave();
  });

  it("H5 a position of another server or an invented one is recognized", async () => {
    const built = await core();
    const id = await makeRun(built);
    const position = "ab12cd34ef56.5.5";
    const request = { runs: ALL_RUNS, series: [seriesOf(id)], logs: [logOf(id, 0)], position };
    const reader = await WatchReader.open(built, request);
    expect(await reader.next("behind")).toMatchObject({ what: ["runs", "series"] });
    await touch(built, id, "x", "1");
    expect((await reader.next("runs")).runs).toMatchObject([{ run: { id } }]);
    await reader.leave();
    // The last one is of this server, but was never sent.
    const own = `${built.changes.epoch}.zz.zz`;
    for (const wrong of ["x", "ab.", "ab12.5.", `${"a".repeat(65)}.5.5`, "ab12.5.5 ", own]) {
      const refusedWatch = new WatchReader(built, { runs: ALL_RUNS, position: wrong });
      await expect(refusedWatch.any()).rejects.toEqual(refused("invalid"));
    }
  });

  if (restores)
    it("H5 every watcher is behind after a backup was restored", async () => {
      const built = await core();
      const id = await makeRun(built);
      await write(built, id, { log: lines("kept") });
      const { name } = await built.system.createBackup({ ...CALLER, permission: "administer" }, "");
      await write(built, id, { log: lines("lost"), series: [numbers("a", [1])] });
      const reader = await WatchReader.open(built, {
        runs: ALL_RUNS,
        series: [seriesOf(id)],
        logs: [logOf(id, 2)],
      });
      built.clock.us += 1_000_000;
      await built.system.restoreBackup({ ...CALLER, permission: "administer" }, name);
      expect(await reader.next("behind")).toMatchObject({ what: ["series"] });
      expect(await reader.next("behind")).toMatchObject({ what: ["logs"] });
      expect(await reader.next("lines")).toMatchObject({ lines: [], next: 1 });
      expect(await reader.next("behind")).toMatchObject({ what: ["runs"] });
      await write(built, id, { log: lines("new") });
      expect(await reader.next("lines")).toMatchObject({ lines: [{ number: 1, text: "new" }], next: 2 });
      await reader.leave();
    });

  it("H6 a run that changed a thousand times between two reads is sent once, in its current state", async () => {
    const built = await core();
    const [a, b] = [await makeRun(built), await makeRun(built)];
    const reader = await WatchReader.open(built, { runs: ALL_RUNS });
    await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => touch(built, i % 2 === 0 ? a : b, "n", String(i))),
    );
    const { runs } = await reader.next("runs");
    expect(new Map(runs.map(({ run }) => [run.id, run.tags.get("n")]))).toEqual(
      new Map([
        [a, "998"],
        [b, "999"],
      ]),
    );
    expect(runs).toHaveLength(2);
    await touch(built, a, "n", "last");
    const after = await reader.next("runs");
    expect(after.runs.map(({ run }) => [run.id, run.tags.get("n")])).toEqual([[a, "last"]]);
    await reader.leave();
  });

  it("H6 very many changed runs are sent in pieces, each run once", async () => {
    const built = await core();
    const ids = await Promise.all(Array.from({ length: 450 }, () => makeRun(built)));
    const reader = await WatchReader.open(built, { runs: ALL_RUNS });
    await Promise.all(ids.map((id) => touch(built, id, "x", "1")));
    const seen: string[] = [];
    while (seen.length < ids.length) {
      const { runs } = await reader.next("runs");
      expect(runs.length).toBeLessThanOrEqual(200);
      seen.push(...runs.map(({ run }) => run.id));
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    await reader.leave();
  });
}
