import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Points } from "./line.ts";
import { valueRange } from "./range.ts";
import { reduceLines } from "./reduce.ts";

function points(y: readonly number[], x: readonly number[] = y.map((_, i) => i)): Points {
  return {
    x: Float64Array.from(x),
    y: Float64Array.from(y),
    exact: true,
    pointCount: y.length,
    unplacedCount: 0,
  };
}

const open = { from: -Infinity, to: Infinity, log: false, clip: false };

describe("the range of values", () => {
  it("Z26 every number shown is inside, infinities and NaN are ignored", () => {
    const value = fc.oneof(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.constantFrom(Number.NaN, Infinity),
    );
    fc.assert(
      fc.property(fc.array(fc.array(value, { maxLength: 40 }), { maxLength: 4 }), (lines) => {
        const range = valueRange(
          lines.map((y) => points(y)),
          open,
        );
        const finite = lines.flat().filter(Number.isFinite);
        if (finite.length === 0) expect(range).toBeUndefined();
        else expect(finite.every((each) => each >= range!.from && each <= range!.to)).toBe(true);
      }),
    );
  });

  it("Z26 only the zoomed part counts", () => {
    const range = valueRange([points([1, 2, 3, 100, 5])], { ...open, from: 0, to: 2 })!;
    expect(range.to).toBeLessThan(4);
  });

  it("Z26 clipping leaves out outliers, and only those", () => {
    const calm = Array.from({ length: 1000 }, (_, i) => Math.sin(i));
    const wild = calm.with(500, 1e6);
    expect(valueRange([points(wild)], { ...open, clip: true })).toMatchObject({ clipped: true });
    expect(valueRange([points(wild)], { ...open, clip: true })!.to).toBeLessThan(2);
    expect(valueRange([points(wild)], open)!.to).toBeGreaterThan(1e6);
    expect(valueRange([points(calm)], { ...open, clip: true })).toMatchObject({ clipped: false });
  });

  it("Z26 a log axis ignores values that are not above 0", () => {
    const range = valueRange([points([-5, 0, 0.01, 10])], { ...open, log: true })!;
    expect(range.from).toBeGreaterThan(0.005);
    expect(range.from).toBeLessThanOrEqual(0.01);
    expect(valueRange([points([-1, 0])], { ...open, log: true })).toBeUndefined();
  });
});

describe("many lines as one", () => {
  it("Z27 Z93 at every x that some line has: mean, smallest, largest or 95th percentile of those that have a number there", () => {
    const a = points([1, 5, Number.NaN], [0, 10, 20]);
    const b = points([3, 7], [10, 30]);
    const mean = reduceLines([a, b], "mean");
    expect([...mean.x]).toEqual([0, 10, 20, 30]);
    expect([...mean.y]).toEqual([1, 4, Number.NaN, 7]);
    expect([...reduceLines([a, b], "min").y]).toEqual([1, 3, Number.NaN, 7]);
    expect([...reduceLines([a, b], "max").y]).toEqual([1, 5, Number.NaN, 7]);
    expect(mean.pointCount).toBe(5);
    const many = Array.from({ length: 21 }, (_, rank) => points([rank], [0]));
    expect([...reduceLines(many, "p95").y]).toEqual([19]);
    expect([...reduceLines([a, b], "p95").y]).toEqual([1, expect.closeTo(4.9, 9), Number.NaN, 7]);
    expect([...mean.low!]).toEqual([1, 3, Number.NaN, 7]);
  });

  it("Z27 the mean lies between smallest and largest, and one line is itself", () => {
    const line = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 30 }).chain((x) =>
      fc
        .array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: x.length, maxLength: x.length })
        .map((y) =>
          points(
            y,
            x.toSorted((p, q) => p - q),
          ),
        ),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const [low, mean, high] = (["min", "mean", "max"] as const).map((how) => reduceLines(lines, how).y);
        for (let i = 0; i < mean.length; i++)
          expect(low[i] <= mean[i] + 1e-6 && mean[i] <= high[i] + 1e-6).toBe(true);
        // A sum is never -0.
        expect([...reduceLines([lines[0]], "mean").y]).toEqual([...lines[0].y].map((each) => each + 0));
      }),
    );
  });
});
