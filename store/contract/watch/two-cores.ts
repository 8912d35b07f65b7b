import { describe, expect, it } from "vitest";
import { buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, useStores, type OpenStores } from "../stores.ts";
import { withWakeUps } from "./journal-wake-ups.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

const POLL_MS = 5;
const NEVER_MS = 1e9;

/** Two cores on one store, as two servers have it: watchers of one are notified of writes through the other. */
export function watchTwoCoresContract(open: OpenStores, restarts: boolean): void {
  const bench = useStores(open);
  const valuesOf = async (reader: WatchReader, count: number): Promise<unknown[]> => {
    const values: unknown[] = [];
    while (values.length < count) {
      values.push(...flat((await reader.next("points")).series).map(({ value }) => value));
    }
    return values;
  };

  describe.each([
    { which: "wake each other", wake: true },
    { which: "do not wake each other, as two processes", wake: false },
  ])("which $which", ({ wake }) => {
    const core = (pollMs = POLL_MS): Promise<CoreUnderTest> =>
      wake
        ? buildCore(bench.under, { waveMs: 1 })
        : buildCore({ ...bench.under, journal: withWakeUps(bench.journal, () => 0) }, { waveMs: 1, pollMs });

    it("H13 watchers of one core are notified of what is written through another", async () => {
      const [here, there] = [await core(), await core()];
      const id = await makeRun(here);
      const reader = await WatchReader.open(there, { runs: ALL_RUNS });
      const log = await WatchReader.open(there, { logs: [logOf(id)] });
      expect(await log.next("lines")).toMatchObject({ lines: [] });
      await touch(here, id, "x", "1");
      const [notified] = (await reader.next("runs")).runs;
      expect(notified!.run.tags.get("x")).toBe("1");
      await write(here, id, { log: lines("said here") });
      expect(await log.next("lines")).toMatchObject({ lines: [{ number: 0, text: "said here" }] });
      await here.runs.delete(CALLER, { by: "id", id });
      expect(await reader.next("runs")).toMatchObject({ left: [id] });
      await here.runs.purge(CALLER, { by: "id", id });
      expect(await reader.next("runs")).toMatchObject({ left: [id] });
      await reader.leave();
      await log.leave();
    });

    it("H3 H13 points that come through two cores in turn reach watchers of both, each once and in their order", async () => {
      const cores = [await core(), await core()] as const;
      const id = await makeRun(cores[0]);
      const readers = await Promise.all(
        cores.map((one) => WatchReader.open(one, { series: [seriesOf(id)] })),
      );
      const count = 60;
      for (let i = 0; i < count; i++)
        await write(cores[i % 3 === 0 ? 0 : 1], id, { series: [numbers("a", [i], i)] });
      const expected = Array.from({ length: count }, (_, i) => i);
      for (const reader of readers) expect(await valuesOf(reader, count)).toEqual(expected);
      for (const reader of readers) await reader.leave();
    });

    it("H4 H13 a watcher of one core resumes at the other from its position, also at one that starts then", async () => {
      // It learns of nothing by itself.
      const [here, there] = [await core(), await core(NEVER_MS)];
      const id = await makeRun(here);
      const request = { runs: ALL_RUNS, series: [seriesOf(id)], logs: [logOf(id, 0)] };
      const reader = await WatchReader.open(here, request);
      await write(here, id, { series: [numbers("a", [1])] });
      expect(await valuesOf(reader, 1)).toEqual([1]);
      await reader.leave();
      await write(here, id, { series: [numbers("a", [2], 1)] });
      await write(here, id, { series: [numbers("a", [3], 2)] });
      await touch(here, id, "x", "1");
      for (const at of [there, await core(NEVER_MS)]) {
        const again = await WatchReader.open(at, { ...request, position: reader.position });
        expect(await valuesOf(again, 2)).toEqual([2, 3]);
        expect((await again.next("runs")).runs.map(({ run }) => run.tags.get("x"))).toEqual(["1"]);
        await again.leave();
      }
    });
  });

  // Left out, not skipped: a store in memory has nothing to restart with.
  if (restarts)
    it("H4 after a restart of the store a watcher resumes from its position, without a gap", async () => {
      const before = await buildCore(bench.under, { waveMs: 1 });
      const [id, other] = [await makeRun(before), await makeRun(before)];
      const request = { runs: ALL_RUNS, series: [seriesOf(id)] };
      const reader = await WatchReader.open(before, request);
      await write(before, id, { series: [numbers("a", [1])] });
      expect(await valuesOf(reader, 1)).toEqual([1]);
      await reader.leave();
      // Acknowledged, and not sent before the end.
      await write(before, id, { series: [numbers("a", [2], 1)] });
      await touch(before, other, "x", "1");
      await before.close();
      await bench.reopen();
      const after = await buildCore(bench.under, { waveMs: 1 });
      await write(after, id, { series: [numbers("a", [3], 2)] });
      const again = await WatchReader.open(after, { ...request, position: reader.position });
      expect(await valuesOf(again, 2)).toEqual([2, 3]);
      expect((await again.next("runs")).runs.map(({ run }) => run.id)).toEqual([other]);
      await again.leave();
    });
}
