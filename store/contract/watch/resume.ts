import fc from "fast-check";
import { expect, it } from "vitest";
import { buildCore } from "../core-under-test.ts";
import { numbers, useStores, type OpenStores } from "../stores.ts";
import { flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";
import { follow, steps } from "./schedule.ts";

export function watchResumeContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);

  it("H4 after any disconnects nothing is missing, no point and no line is sent twice, and the runs are current", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (schedule) => {
        const built = await buildCore(bench.under, { waveMs: 1 });
        try {
          await follow(built, schedule);
        } finally {
          await built.close();
        }
      }),
      { numRuns: schedules },
    );
  });

  it("H4 resumes in the middle of points of many runs", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const ids = await Promise.all(Array.from({ length: 5 }, () => makeRun(built)));
    const request = { series: ids.map((id) => seriesOf(id)) };
    let reader = await WatchReader.open(built, request);
    await Promise.all(ids.map((id, i) => write(built, id, { series: [numbers("a", [i])] })));
    // One round has them all, however many transactions they came in.
    await built.changes.catchUp();
    const seen: unknown[] = [];
    for (let i = 0; i < ids.length; i++) {
      const { runId, series } = await reader.next("points");
      seen.push([runId, ...flat(series).map(({ value }) => value)]);
      // More points arrive for runs that were sent already, while others still wait.
      await write(built, ids[0]!, { series: [numbers("b", [i], i)] });
      await reader.leaveAsking();
      const { position } = reader;
      if (i === 2) {
        // Points of other runs do not begin in the middle of these.
        const other = await WatchReader.open(built, { series: [seriesOf(ids[4]!)], position });
        expect(await other.next("behind")).toMatchObject({ what: ["series"] });
        await other.leave();
      }
      reader = await WatchReader.open(built, { ...request, position });
    }
    expect(seen).toEqual(ids.map((id, i) => [id, i]));
    const { runId, series } = await reader.next("points");
    expect([runId, flat(series).map(({ value }) => value)]).toEqual([ids[0], [0, 1, 2, 3, 4]]);
    await reader.leave();
  });

  it("H1, H4: changes while disconnected are sent at once, without another change", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const id = await makeRun(built);
    const view = { query: `id = "${id}"`, namespace: "", columns: [] };
    const runs = await WatchReader.open(built, { runs: view });
    const first = runs.next("runs");
    await touch(built, id, "x", "1");
    await first;
    await runs.leave();
    await touch(built, id, "x", "2");
    const again = await WatchReader.open(built, { runs: view, position: runs.position });
    const [received] = (await again.next("runs")).runs;
    expect(received!.run.tags.get("x")).toBe("2");
    await again.leave();
    await (await WatchReader.open(built, { logs: [logOf(id, 0)] })).leaveAsking();
    await write(built, id, { log: lines("zero") });
    const log = await WatchReader.open(built, { logs: [logOf(id, 0)] });
    expect(await log.next("lines")).toMatchObject({ lines: [{ number: 0, text: "zero" }], next: 1 });
    await log.leave();
  });

  it("H4 resumes without a gap if nothing changed while disconnected, however long that was", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const [quiet, loud] = [await makeRun(built), await makeRun(built)];
    const { changes } = built;
    await write(built, quiet, { series: [numbers("a", [1])] });
    const reader = await WatchReader.open(built, { series: [seriesOf(quiet)] });
    await reader.leave();
    await write(built, loud, { series: [numbers("a", [1])] });
    // As after the time for which points are kept.
    changes.points.expire(performance.now() + 3_600_000);
    const again = await WatchReader.open(built, { series: [seriesOf(quiet)], position: reader.position });
    await write(built, quiet, { series: [numbers("a", [2], 1)] });
    expect(flat((await again.next("points")).series).map(({ value }) => value)).toEqual([2]);
    await again.leave();
    changes.points.expire(performance.now() + 3_600_000);
    await write(built, quiet, { series: [numbers("a", [3], 2)] });
    const kept = await WatchReader.open(built, { series: [seriesOf(quiet)], position: again.position });
    expect(flat((await kept.next("points")).series).map(({ value }) => value)).toEqual([3]);
    await kept.leave();
    changes.points.expire(performance.now() + 3_600_000);
    await bench.under.settle();
    const late = await WatchReader.open(built, { series: [seriesOf(quiet)], position: again.position });
    expect(await late.next("behind")).toMatchObject({ what: ["series"] });
    await late.leave();
  });
}
