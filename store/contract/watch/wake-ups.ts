/** Followers of the journal work whether wake-ups arrive or not, and with any amount of memory. */
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Journal } from "#core/ports/journal.ts";
import { buildCore } from "../core-under-test.ts";
import { numbers, useStores, type OpenStores } from "../stores.ts";
import { withWakeUps } from "./journal-wake-ups.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";
import { follow, steps } from "./schedule.ts";

/** A second, and the delay of a busy machine. */
const SOON_MS = 4_000;
const NEVER_MS = 1e9;
const WAVE_MS = 20;

export function watchWakeUpsContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);
  const core = (journal: Journal, pollMs?: number) =>
    buildCore({ ...bench.under, journal }, { waveMs: WAVE_MS, ...(pollMs !== undefined && { pollMs }) });

  it.each([
    ["within a second though no wake-up arrives", () => 0, undefined],
    ["by the wake-up alone", () => 1, NEVER_MS],
  ])("H1 H13 a watcher is notified %s", async (_, woken, pollMs) => {
    const built = await core(withWakeUps(bench.journal, woken), pollMs);
    const id = await makeRun(built);
    const request = { runs: ALL_RUNS, series: [seriesOf(id)], logs: [logOf(id, 0)] };
    const reader = await WatchReader.open(built, request);
    const beganMs = performance.now();
    await write(built, id, { series: [numbers("a", [7])], log: lines("zero") });
    await touch(built, id, "x", "1");
    const events = await reader.nextOfEach("points", "lines", "runs");
    expect(flat(events.points.series)).toMatchObject([{ value: 7 }]);
    expect(events.lines).toMatchObject({ lines: [{ number: 0, text: "zero" }] });
    expect(events.runs.runs.map(({ run }) => run.tags.get("x"))).toEqual(["1"]);
    expect(performance.now() - beganMs).toBeLessThan(SOON_MS);
    await reader.leave();
    await built.close();
  });

  it("H13 H15 positions of reads at another core are good here before their changes are known", async () => {
    const there = await core(bench.journal);
    const id = await makeRun(there);
    const here = await core(
      withWakeUps(bench.journal, () => 0),
      NEVER_MS,
    );
    const since = [there.positions.now()];
    await touch(there, id, "x", "1");
    since.push(there.positions.now());
    for (const given of [since, since.toReversed()]) {
      const reader = await WatchReader.open(here, { runs: ALL_RUNS, since: given });
      expect((await reader.next("runs")).runs.map(({ run }) => run.tags.get("x"))).toEqual(["1"]);
      await reader.leave();
    }
    for (const one of [here, there]) await one.close();
  });

  it("H13 spurious wake-ups make no event, and read the journal at most once per wave", async () => {
    const journal = withWakeUps(bench.journal, () => 1);
    const built = await core(journal, NEVER_MS);
    const id = await makeRun(built);
    const reader = await WatchReader.open(built, { runs: ALL_RUNS, series: [seriesOf(id)] });
    const next = reader.any();
    const { asked } = journal;
    const beganMs = performance.now();
    for (let i = 0; i < 2_000; i++) {
      journal.wake();
      await setImmediate();
    }
    expect(journal.asked - asked).toBeGreaterThan(0);
    expect(journal.asked - asked).toBeLessThanOrEqual(2 + (performance.now() - beganMs) / WAVE_MS);
    await touch(built, id, "x", "1");
    expect(await next).toMatchObject({ kind: "runs", runs: [{ run: { id } }], left: [] });
    await reader.leave();
    await built.close();
  });

  it("H4 H13 after any disconnects nothing is missing or sent twice, with little memory and lost or spurious wake-ups", async () => {
    const memory = fc.constantFrom(0, 1_000, 32 << 20);
    const wakeUps = fc.infiniteStream(fc.constantFrom(0, 0, 1, 2));
    const property = fc.asyncProperty(steps, memory, wakeUps, async (schedule, pointBytesMax, woken) => {
      const journal = withWakeUps(bench.journal, () => woken.next().value!);
      // As many runs as one schedule may create.
      const options = { waveMs: 1, pollMs: 3, pointBytesMax, runsMax: 40 };
      const built = await buildCore({ ...bench.under, journal }, options);
      try {
        await follow(built, schedule);
      } finally {
        await built.close();
      }
    });
    await fc.assert(property, { numRuns: schedules });
  });
}
