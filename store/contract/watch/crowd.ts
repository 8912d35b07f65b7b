import { expect, it } from "vitest";
import { buildCore } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { useStores, numbers, type OpenStores } from "../stores.ts";
import { ALL_RUNS, flat, makeRun, READER, seriesOf, touch, WatchReader, write } from "./reader.ts";

const CROWD = 2_000;

/** Counts what happens in each turn of the event loop. */
class TurnCount {
  readonly #marks = [0];
  #stopped = false;

  constructor() {
    setImmediate(this.#turn);
  }

  mark(): void {
    this.#marks[this.#marks.length - 1]!++;
  }

  /** Returns the most that happened in one. */
  stop(): number {
    this.#stopped = true;
    return Math.max(...this.#marks);
  }

  readonly #turn = (): void => {
    this.#marks.push(0);
    if (!this.#stopped) setImmediate(this.#turn);
  };
}

export function watchCrowdContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);

  it("H8 two thousand watchers of the same share the work, and others are served in between", async () => {
    const built = await core();
    const id = await makeRun(built);
    const others = await Promise.all(Array.from({ length: CROWD / 100 }, () => makeRun(built)));
    const eve = callerWithout({ namespaces: ["secret"] }, "read");
    const readers: WatchReader[] = [];
    for (let i = 0; i < CROWD; i++) {
      readers.push(await WatchReader.open(built, { runs: ALL_RUNS }, i % 2 === 0 ? READER : eve));
      // They begin at different moments, so that each has another position.
      if (i % 4 === 0) await write(built, id, { series: [numbers("loss", [i], i)] });
      if (i % 100 === 0) await touch(built, others[i / 100]!, "early", "1");
    }
    for (let round = 0; round < 4; round++) {
      const before = built.watches.counts.searches;
      const turns = new TurnCount();
      await touch(built, id, "round", String(round));
      await Promise.all(
        readers.map(async (reader, i) => {
          const { runs, left } = await reader.next("runs");
          turns.mark();
          expect(left).toEqual([]);
          const early = round === 0 ? others.slice(Math.ceil(i / 100)) : [];
          expect(runs.map(({ run }) => run.id).toSorted()).toEqual([...early, id].toSorted());
          expect(runs.find(({ run }) => run.id === id)!.run.tags.get("round")).toBe(String(round));
        }),
      );
      // Two kinds of rights; the first time each in a few groups by their position.
      expect(built.watches.counts.searches - before).toBeLessThanOrEqual(round === 0 ? 2 * 12 : 4);
      expect(turns.stop()).toBeLessThanOrEqual(64);
    }
    await Promise.all(readers.map((reader) => reader.leave()));
    expect(built.watches.counts.watchers).toBe(0);
  });

  it("H8 many watchers of more changed runs than fit in one answer get them all, each run once", async () => {
    const built = await core();
    const ids = await Promise.all(Array.from({ length: 500 }, () => makeRun(built)));
    const readers: WatchReader[] = [];
    for (let i = 0; i < 50; i++) {
      readers.push(await WatchReader.open(built, { runs: ALL_RUNS }));
      await touch(built, ids[i]!, "early", "1");
    }
    await Promise.all(ids.map((id) => touch(built, id, "x", "1")));
    const before = built.watches.counts.searches;
    await Promise.all(
      readers.map(async (reader) => {
        const seen: string[] = [];
        while (seen.length < ids.length) {
          const { runs } = await reader.next("runs");
          seen.push(...runs.filter(({ run }) => run.tags.has("x")).map(({ run }) => run.id));
        }
        expect(seen.toSorted()).toEqual(ids.toSorted());
        await reader.leave();
      }),
    );
    expect(built.watches.counts.searches - before).toBeLessThanOrEqual(60);
  });

  it("H5 H8 watchers that stop reading use no growing memory, and do not affect the others", async () => {
    const built = await buildCore(bench.under, { pointBytesMax: 50_000 });
    const id = await makeRun(built);
    const stalled = await Promise.all(
      Array.from({ length: 100 }, () => WatchReader.open(built, { runs: ALL_RUNS, series: [seriesOf(id)] })),
    );
    const reader = await WatchReader.open(built, { series: [seriesOf(id)] });
    const before = built.watches.counts.searches;
    for (let i = 0; i < 200; i++) {
      await write(built, id, {
        series: [
          numbers(
            "a",
            Array.from({ length: 50 }, () => i),
            50 * i,
          ),
        ],
      });
      if (i % 10 === 9) {
        let seen = 0;
        while (seen < 500) seen += flat((await reader.next("points")).series).length;
        expect(seen).toBe(500);
      }
      expect(built.watches.counts.heldBytes).toBeLessThanOrEqual(50_000);
    }
    // They did not read, so no events were made for them.
    expect(built.watches.counts.searches).toBe(before);
    // Nor does the journal have them in order of arrival any more.
    await bench.under.settle();
    for (const one of stalled) {
      const { kind } = await one.any();
      expect(kind).toBe("behind");
      await one.leave();
    }
    await reader.leave();
  });
}
