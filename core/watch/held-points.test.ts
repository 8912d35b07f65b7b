import { describe, expect, it } from "vitest";
import { takeDoubles } from "#base/codec/slab.ts";
import type { SeriesPoints } from "../types/series.ts";
import { HeldPoints } from "./held-points.ts";

const HOUR_MS = 3_600_000;

function series(values: Float64Array): SeriesPoints[] {
  const points = {
    count: values.length,
    steps: undefined,
    times: undefined,
    nanos: undefined,
    values: { kind: "number" as const, data: values },
  };
  return [{ key: "k", labels: [], points }];
}

/** How many envelopes come after a position; undefined when some of them are gone. */
function countAfter(held: HeldPoints, runId: string, after: number): number | undefined {
  return held.read(runId, after, Infinity, Infinity)?.envelopes.length;
}

describe("points that are cached for watchers", () => {
  it("H4 returns points after a position, up to another, in parts of a limited size", () => {
    const held = new HeldPoints();
    held.watch("a", 10);
    for (let position = 11; position <= 20; position++) {
      held.offer("a", position, series(Float64Array.of(position, -position)));
      held.offer("b", position, series(Float64Array.of(0)));
    }
    expect(held.read("b", 10, 20, 100)).toBeUndefined();
    expect(held.read("a", 9, 20, 100)).toBeUndefined();
    expect(held.read("a", 20, 25, 100)).toEqual({ envelopes: [], upTo: 25 });
    const positions = (after: number, upTo: number, pointsMax: number) => {
      const part = held.read("a", after, upTo, pointsMax)!;
      return [part.envelopes.map(({ position }) => position), part.upTo];
    };
    expect(positions(12, 15, 100)).toEqual([[13, 14, 15], 15]);
    expect(positions(12, 99, 100)).toEqual([[13, 14, 15, 16, 17, 18, 19, 20], 99]);
    expect(positions(10, 20, 3)).toEqual([[11, 12], 12]);
    expect(positions(12, 20, 1)).toEqual([[13], 13]);
    expect(positions(18, 20, 4)).toEqual([[19, 20], 20]);
  });

  it("H5 keeps its limit: the oldest are dropped first, of whichever run", () => {
    const held = new HeldPoints(20_000);
    held.watch("a", 0);
    held.watch("b", 0);
    for (let position = 1; position <= 100; position++) {
      held.offer(position % 2 === 0 ? "a" : "b", position, series(new Float64Array(200)));
      expect(held.sizeBytes).toBeLessThanOrEqual(20_000);
    }
    const kept = countAfter(held, "a", 98)! + countAfter(held, "b", 98)!;
    expect(kept).toBe(2);
    expect(countAfter(held, "a", 0)).toBeUndefined();
    expect(countAfter(held, "b", 50)).toBeUndefined();
    expect(held.sizeBytes).toBeGreaterThan(15_000);
    // One that is too large by itself is not kept either.
    held.offer("a", 101, series(new Float64Array(5_000)));
    expect(held.sizeBytes).toBe(0);
    expect(countAfter(held, "a", 100)).toBeUndefined();
    expect(countAfter(held, "a", 101)).toBe(0);
  });

  it("H5 keeps only the points themselves in memory", () => {
    const held = new HeldPoints();
    held.watch("a", 0);
    const cut = takeDoubles(3).fill(7);
    const own = new Float64Array(3).fill(8);
    held.offer("a", 1, series(cut));
    held.offer("a", 2, series(own));
    const kept = held.read("a", 0, 2, 100)!.envelopes.map((envelope) => {
      const { values } = envelope.series[0]!.points;
      if (values.kind !== "number") throw new Error("not numbers");
      return values.data;
    });
    expect(kept.map((values) => [...values])).toEqual([
      [7, 7, 7],
      [8, 8, 8],
    ]);
    expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual([24, 24]);
    expect(kept[1]).toBe(own);
  });

  it("H4 keeps the points of a run for a while after the last watcher, and then drops them", () => {
    const held = new HeldPoints();
    held.watch("a", 0);
    held.watch("a", 0);
    held.watch("b", 0);
    held.unwatch("a");
    held.unwatch("a");
    held.offer("a", 1, series(Float64Array.of(1)));
    held.offer("b", 2, series(Float64Array.of(1)));
    held.expire(performance.now() + 1_000);
    expect(countAfter(held, "a", 0)).toBe(1);
    held.watch("a", 99);
    held.expire(performance.now() + HOUR_MS);
    expect(countAfter(held, "a", 0)).toBe(1);
    const { sizeBytes } = held;
    held.unwatch("a");
    held.expire(performance.now() + HOUR_MS);
    expect(countAfter(held, "a", 0)).toBeUndefined();
    expect(countAfter(held, "b", 0)).toBe(1);
    expect(held.sizeBytes).toBe(sizeBytes / 2);
    held.unwatch("b");
    held.expire(performance.now() + HOUR_MS);
    expect(held.sizeBytes).toBe(0);
    expect(countAfter(held, "b", 99)).toBeUndefined();
    // Dropped points are not subtracted twice.
    held.watch("b", 5);
    for (let position = 6; position < 9; position++) held.offer("b", position, series(Float64Array.of(1)));
    expect(held.sizeBytes).toBe((3 * sizeBytes) / 2);
    held.close();
  });

  it("H5 after a reset only later points are kept", () => {
    const held = new HeldPoints();
    held.watch("a", 0);
    held.offer("a", 1, series(Float64Array.of(1)));
    held.reset(2);
    expect(held.sizeBytes).toBe(0);
    expect(countAfter(held, "a", 1)).toBeUndefined();
    held.offer("a", 3, series(Float64Array.of(1)));
    expect(countAfter(held, "a", 2)).toBe(1);
  });

  it("H5 the points of other runs cost nothing where there is nothing to drop", () => {
    const held = new HeldPoints();
    held.watch("a", 0);
    held.watch("b", 0);
    const COUNT = 20_000;
    const CONFIRMED = 3_000;
    for (let at = 1; at <= COUNT; at++) held.offer("a", at, series(Float64Array.of(1)));
    // Another server writes to the other run.
    let position = 0;
    let bestMs = Infinity;
    for (let round = 0; round < 5; round++) {
      const beganMs = performance.now();
      for (let i = 0; i < CONFIRMED; i++) held.confirm("b", position, ++position, 1);
      bestMs = Math.min(bestMs, performance.now() - beganMs);
    }
    // 1,600 ms with a copy of what is held for each of them.
    expect(bestMs).toBeLessThan(50);
    expect(countAfter(held, "a", 0)).toBe(COUNT);
    expect(countAfter(held, "b", position - 1)).toBeUndefined();
    expect(countAfter(held, "b", position)).toBe(0);
  });
});
