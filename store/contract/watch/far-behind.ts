/** Followers that are further behind than the journal remembers, or than their own memory reaches. */
import { beforeEach, expect, it } from "vitest";
import { CHANGED } from "#core/ports/journal.ts";
import type { ChangesOptions } from "#core/watch/changes.ts";
import { ADMIN, on, openAccess } from "../access-under-test.ts";
import { asked, buildCore, type CoreUnderTest } from "../core-under-test.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import {
  ackOf,
  createRun,
  envelope,
  NOW_US,
  numbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";
import { ALL_RUNS, flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

const AT_ONCE = 500;
const LAB = { ...ALL_RUNS, namespace: "lab" };

/** `open` gives stores whose journal keeps few changes. */
export function watchFarBehindContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = (options: ChangesOptions = {}): Promise<CoreUnderTest> =>
    buildCore(bench.under, { waveMs: 1, ...options });
  let loud: string;
  beforeEach(async () => {
    loud = await createRun(bench.runs, { namespace: "loud" });
  });

  /** Until the journal has forgotten what it has now. */
  const outrun = async () => {
    const { position } = await bench.journal.changesSince(undefined, 0);
    let floor: number;
    do {
      const noise = Array.from({ length: AT_ONCE }, (_, i) =>
        envelope(loud, 0, { series: [numbers("noise", [i])] }),
      );
      for (const outcome of await bench.journal.append(noise, NOW_US)) ackOf(outcome);
      ({ floor } = await bench.journal.changesSince(undefined, 0));
    } while (floor <= position);
  };

  const valuesOf = (series: Parameters<typeof flat>[0]) => flat(series).map(({ value }) => value);

  it.each(["the same core", "another one"])(
    "H4 H5 a watcher whose position the journal has forgotten is behind once at %s, and then gets everything",
    async (where) => {
      const here = await core();
      const id = await makeRun(here);
      const request = { runs: LAB, series: [seriesOf(id)] };
      const reader = await WatchReader.open(here, { ...request, logs: [logOf(id, 0)] });
      await write(here, id, { series: [numbers("a", [1])], log: lines("zero") });
      const {
        points,
        lines: { next },
      } = await reader.nextOfEach("points", "lines");
      expect(valuesOf(points.series)).toEqual([1]);
      await reader.leave();
      await write(here, id, { series: [numbers("a", [2], 1)], log: lines("one") });
      await touch(here, id, "missed", "yes");
      await outrun();
      const there = where === "another one" ? await core() : here;
      const again = await WatchReader.open(there, {
        ...request,
        logs: [logOf(id, next)],
        position: reader.position,
      });
      expect(await again.next("behind")).toMatchObject({ what: ["series"] });
      expect(await again.next("lines")).toMatchObject({ lines: [{ number: 1, text: "one" }], next: 2 });
      expect(await again.next("behind")).toMatchObject({ what: ["runs"] });
      for (const value of [3, 4]) {
        await write(there, id, { series: [numbers("a", [value], value)], log: lines(`line ${value}`) });
        await touch(there, id, "value", String(value));
        const news = await again.nextOfEach("points", "lines", "runs");
        expect(valuesOf(news.points.series)).toEqual([value]);
        expect(news.lines).toMatchObject({ lines: [{ number: value - 1 }] });
        const { runs, left } = news.runs;
        expect([left, runs.map(({ run }) => run.tags.get("value"))]).toEqual([[], [String(value)]]);
      }
      // Its new position is valid.
      await again.leave();
      await write(there, id, { series: [numbers("a", [5], 5)] });
      const third = await WatchReader.open(there, { series: [seriesOf(id)], position: again.position });
      expect(valuesOf((await third.next("points")).series)).toEqual([5]);
      await third.leave();
    },
  );

  it("H4 H6 a watcher that stays connected without reading misses nothing while the journal forgets", async () => {
    const built = await core();
    const id = await makeRun(built);
    const reader = await WatchReader.open(built, {
      runs: LAB,
      series: [seriesOf(id)],
      logs: [logOf(id, 0)],
    });
    await write(built, id, { series: [numbers("a", [1])], log: lines("zero") });
    await touch(built, id, "x", "1");
    await outrun();
    const { points, lines: log, runs } = await reader.nextOfEach("points", "lines", "runs");
    expect(valuesOf(points.series)).toEqual([1]);
    expect(log).toMatchObject({ lines: [{ number: 0, text: "zero" }] });
    expect(runs.runs.map(({ run }) => run.tags.get("x"))).toEqual(["1"]);
    await reader.leave();
  });

  it("J1 J4 a follower of runs whose mark the journal has forgotten starts again, and ends with the stored state", async () => {
    const { feed, changes } = bench.under;
    const built = await core();
    const kept = await makeRun(built);
    const purged = await makeRun(built);
    await feed.catchUp();
    const behind = feed.resume(changes);
    await write(built, kept, { series: [numbers("a", [1, 2])] });
    await touch(built, kept, "x", "1");
    const ref = { by: "id", id: purged } as const;
    await built.runs.delete(ADMIN, ref);
    await built.runs.purge(ADMIN, ref);
    await outrun();
    const before = behind.batches.length;
    await behind.catchUp();
    expect(behind.batches.slice(before).map(({ reset }) => reset)[0]).toBe(true);
    const fresh = new FeedRecorder(changes);
    await fresh.catchUp();
    expect(behind.runs).toEqual(fresh.runs);
    expect(behind.findRun(purged)).toBeUndefined();
    expect(behind.findNumbers(kept, "a")).toMatchObject({ count: 2, last: 2 });
  });

  it("A43 H14 caches that are further behind than the journal remembers load everything again", async () => {
    const [first, second] = [await openAccess(bench.under), await openAccess(bench.under)];
    await first.user("ada");
    await first.bind("ada", "viewer", on("a"));
    await first.namespaces.create(ADMIN, { path: "a", description: "", objective: undefined });
    const { run } = await first.runs.create(ADMIN, asked({ namespace: "a" }));
    const [kept, revoked] = [await first.token("ada"), await first.token("ada")];
    const ada = await second.access.identify(kept.secret);
    await second.access.identify(revoked.secret);
    const ref = { by: "id", id: run.id } as const;
    expect((await second.runs.whereIs(ADMIN, ref)).namespace).toBe("a");
    const may = () => ada.rights.may("read", { namespace: "a" });
    expect(may()).toBe(true);
    const { position } = await bench.journal.changesSince(undefined, 0);
    // From here on it polls only on request.
    second.follower.stop();
    await second.follower.catchUp();
    await first.access.revokeToken(ADMIN, revoked.token.id);
    await first.access.unbindRole(ADMIN, { principal: "ada", scope: on("a") });
    await first.namespaces.update(ADMIN, { path: "a", forbidsCode: true });
    await first.runs.delete(ADMIN, ref);
    await first.runs.purge(ADMIN, ref);
    await outrun();
    expect(may()).toBe(true);
    expect((await bench.journal.changesSince(position, CHANGED.access)).changes).toEqual([]);
    await second.follower.catchUp();
    expect(may()).toBe(false);
    await expect(async () => second.access.identify(revoked.secret)).rejects.toEqual(
      refused("unauthenticated", "BAD_CREDENTIAL"),
    );
    expect((await second.runs.create(ADMIN, asked({ namespace: "a" }))).forbidden.code).toBe("a");
    await expect(second.runs.whereIs(ADMIN, ref)).rejects.toEqual(refused("not-found"));
    // From there on it follows as before.
    await first.bind("ada", "viewer", on("a"));
    await second.follower.catchUp();
    expect(may()).toBe(true);
  });

  it("H3 H4 points that the journal still has are read from there, however few are in memory", async () => {
    const [envelopes, points] = [300, 20];
    const built = await core({ pointBytesMax: 2_000 });
    const id = await makeRun(built);
    const request = { runs: LAB, series: [seriesOf(id)] };
    const left = await WatchReader.open(built, request);
    await left.leave();
    // It is connected, and does not read.
    const slow = await WatchReader.open(built, request);
    const expected = Array.from({ length: envelopes * points }, (_, i) => i);
    for (let i = 0; i < envelopes; i++) {
      await write(built, id, {
        series: [numbers("a", expected.slice(i * points, (i + 1) * points), i * points)],
      });
      // The same few runs, over and over.
      if (i % 10 === 0) await touch(built, id, "i", String(i));
    }
    expect(built.watches.counts.heldBytes).toBeLessThanOrEqual(2_000);
    const { position } = left;
    const fresh = await core({ pointBytesMax: 0, runsMax: 2 });
    const returned = [
      slow,
      await WatchReader.open(built, { ...request, position }),
      await WatchReader.open(fresh, { ...request, position }),
    ];
    for (const reader of returned) {
      const seen: unknown[] = [];
      let parts = 0;
      for (; seen.length < expected.length; parts++) {
        seen.push(...valuesOf((await reader.next("points")).series));
      }
      expect(seen).toEqual(expected);
      expect(parts).toBeGreaterThan(1);
      const { runs } = await reader.next("runs");
      expect(runs.map(({ run }) => run.tags.get("i"))).toEqual(["290"]);
      await reader.leave();
    }
  });
}
